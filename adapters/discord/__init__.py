"""Discord, by discord.py as it is; the way in is `adapter.DiscordAdapter`. Nothing else of remem imports discord."""
