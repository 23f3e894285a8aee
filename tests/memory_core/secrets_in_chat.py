"""The labelled set: lines of chat with a secret in them, of 26 kinds, and lines that only look like it.

Keys are made up at run time from a fixed seed, so that no scanner takes this file for a leak.
"""

from __future__ import annotations

import random
import string
from dataclasses import dataclass

_DICE = random.Random(126)
_ALNUM = string.ascii_letters + string.digits
_UPPER = string.ascii_uppercase + string.digits
_HEX = "0123456789abcdef"
_URLSAFE = _ALNUM + "_-"


def made(prefix: str, length: int, signs: str = _ALNUM) -> str:
    """A made-up token; it begins and ends with a letter or digit and holds both."""
    body = "".join(_DICE.choices(signs, k=length - 3))
    return f"{prefix}{'A' if signs is _UPPER else 'a'}{body}7{'Z' if signs is _UPPER else 'b'}"


@dataclass(frozen=True, slots=True)
class Planted:
    """A line that holds a secret; nothing of `secret` may stay."""

    kind: str
    text: str
    secret: str


def _planted(kind: str, secret: str, *lines: str) -> list[Planted]:
    return [Planted(kind, line.replace("@@", secret), secret) for line in lines]


PEM_BODY = "\n".join(made("", 64, _ALNUM + "+/") for _ in range(6))
_PEM = f"-----BEGIN RSA PRIVATE KEY-----\n{PEM_BODY}\n-----END RSA PRIVATE KEY-----"
_SSH = f"-----BEGIN OPENSSH PRIVATE KEY-----\n{PEM_BODY}\n-----END OPENSSH PRIVATE KEY-----"
_DISCORD = f"{made('M', 25)}.{made('', 6)}.{made('', 38, _URLSAFE)}"
_TELEGRAM = f"7123456789:{made('AA', 33, _URLSAFE)}"
_JWT = f"{made('eyJ', 33)}.{made('eyJ', 60)}.{made('', 43, _URLSAFE)}"

TOKENS: dict[str, str] = {
    "aws key": made("AKIA", 16, _UPPER),
    "aws session key": made("ASIA", 16, _UPPER),
    "github token": made("ghp_", 36),
    "github fine-grained": made("github_pat_", 22) + "_" + made("", 59),
    "gitlab token": made("glpat-", 20),
    "slack bot": f"xoxb-2345678901234-2345678901235-{made('', 24)}",
    "slack app": f"xapp-1-{made('A0', 9, _UPPER)}-2345678901236-{made('', 64, _HEX)}",
    "slack user": f"xoxp-2345678901234-2345678901235-2345678901236-{made('', 32, _HEX)}",
    "discord token": _DISCORD,
    "telegram token": _TELEGRAM,
    "openai key": made("sk-proj-", 60),
    "openai old key": made("sk-", 48),
    "anthropic key": made("sk-ant-api03-", 95),
    "google key": made("AIza", 35),
    "stripe key": made("sk_live_", 24),
    "jwt": _JWT,
    "npm token": made("npm_", 36),
    "pypi token": made("pypi-AgEIcHlwaS5vcmc", 80),
    "sendgrid key": f"SG.{made('', 22)}.{made('', 43)}",
    "twilio key": made("SK", 32, _HEX),
    "hugging face token": made("hf_", 34),
}
"""One of every kind that its shape gives away."""

PASSWORDS = ("hunter2-prod", "Tr0ub4dor&3", "c0rrect-h0rse", "pa55w0rd!x9", "Xy7#kQ2z", "s3cr3t")

POSITIVES: list[Planted] = [
    *(
        planted
        for kind, token in TOKENS.items()
        for planted in _planted(kind, token, "here it is: @@", "use @@ for staging, ok?", "钥匙@@给你")
    ),
    *_planted("private key", PEM_BODY, _PEM.replace(PEM_BODY, "@@"), "my key:\n```\n" + _SSH.replace(PEM_BODY, "@@") + "\n```"),
    *_planted("private key, cut", PEM_BODY, "-----BEGIN PRIVATE KEY-----\n@@", "@@\n-----END PRIVATE KEY-----\nthat was it"),
    *_planted(
        "url",
        "hunter2-prod",
        "https://ana:@@@db.example.com/x",
        "clone https://bot:@@@git.example.com/a/b.git please",
        "DATABASE_URL=postgres://app:@@@10.0.0.5:5432/main",
        "redis://:@@@cache:6379/0",
        "mongodb+srv://app:@@@cluster0.example.net/?retryWrites=true",
    ),
    *_planted("url", "pa/ss@w0rd", "postgres://app:@@@db/main"),
    *_planted("url", "pw", "https://u:@@@host"),
    *_planted(
        "key=value",
        "hunter2-prod",
        "password=@@",
        "export DB_PASS=@@",
        'PASSWORD="@@"',
        "db_password: @@",
        "{'password': '@@'}",
        '{"user": "ana", "password": "@@"}',
        "set dbPassword = @@ in the config",
        "passwd := @@",
        "MYSQL_ROOT_PASSWORD=@@ docker compose up",
        "pwd=@@;",
        "DB_PASS：@@",
    ),
    *_planted("key=value", "swordfish", "password=swordfish", "Password: swordfish", "user: ana\npassword: swordfish\nhost: db"),
    *_planted("key=value", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzz", "AWS_SECRET_ACCESS_KEY=@@", "aws_secret_access_key = @@"),
    *_planted("key=value", made("", 32, _HEX), "api_key=@@", "API_KEY: @@", "client_secret=@@", "auth_token=@@ make deploy"),
    *_planted("header", made("", 40), "Authorization: Bearer @@", "curl -H 'Authorization: Bearer @@' https://api.example.com"),
    *_planted("header", "YW5hOmh1bnRlcjI=", "Authorization: Basic @@"),
    *_planted("command", "hunter2-prod", "curl -u ana:@@ https://api.example.com", "mysql -u root -p@@ main", "login --password @@ --user ana"),
    *_planted(
        "prose, English",
        "hunter2",
        "the password is @@",
        "The password for staging is @@.",
        "my password's @@ btw",
        "password of the build server is now @@, don't tell",
        "pw is @@",
        "the root passphrase was @@ until today",
        "I changed the admin password to @@",
        "the password has been changed to @@",
        "the password is: @@",
        "Password is `@@`",
        "use @@ as the password",
        'the wifi password is "@@"',
        "passcode is **@@** for everyone",
        "creds: ana / @@",
        "credentials are ana:@@",
    ),
    *_planted("prose, English", "swordfish", "the password is @@", "ok so the password for the door is @@.", "password is @@!"),
    *_planted("prose, English", "CorrectHorse", "the wifi password is @@ and it works"),
    *_planted("prose, English", "open sesame please", 'the passphrase is "@@"'),
    *_planted("prose, English", "482913", "the password is @@", "passcode is @@ for the gate"),
    *_planted(
        "prose, Chinese",
        "hunter2",
        "密码是@@",
        "密码是 @@，别告诉别人",
        "服务器密码：@@",
        "测试环境的密码是@@。",
        "密码已经改成 @@ 了",
        "数据库口令为@@",
        "密碼是 @@",
        "密码 @@",
        "ＷＩＦＩ密码：ｈｕｎｔｅｒ２".replace("ｈｕｎｔｅｒ２", "@@"),
    ),
    *_planted("prose, Chinese", "芝麻开门", "密码是“@@”"),
    *_planted(
        "prose, German",
        "hunter2",
        "das Passwort ist @@",
        "Das Passwort für den Server lautet @@.",
        "Kennwort: @@",
        "Passwort ist jetzt @@, bitte merken",
        "WLAN-Passwort: @@",
    ),
    *_planted("prose, German", "Sonnenblume", "das Passwort lautet @@.", 'Passwort ist "@@"'),
    *_planted("prose, German", "Müllerin99", "Passwort ist @@"),
    *_planted("prose, Japanese", "hunter2", "パスワードは@@です", "パスワードは @@ です。", "パスワード：@@", "暗証番号は@@"),
    *_planted("prose, others", "hunter2", "비밀번호는 @@ 입니다", "le mot de passe est @@", "la contraseña es @@", "пароль: @@"),
    *_planted("seed phrase", "legal winner thank year wave sausage worth useful legal winner thank yellow", "seed phrase: @@"),
    *_planted("connection string", made("", 84, _ALNUM + "+/") + "==", "DefaultEndpointsProtocol=https;AccountName=x;AccountKey=@@"),
    *_planted("webhook", made("", 24), "post to https://hooks.slack.com/services/T0123ABCD/B0123ABCD/@@"),
    *_planted("webhook", made("", 68, _URLSAFE), "https://discord.com/api/webhooks/123456789012345678/@@"),
]  # fmt: skip

NEGATIVES: tuple[str, ...] = (
    # Case 126.
    "keyboard monkey tokenized",
    "commit 9f2c4d5e6f7a8b9c0d1e2f3a4b5c6d7e8f9a0b1c",
    "run 3f2504e0-4f89-41d3-9a0c-0305e82c3301 failed",
    "message 1189999123456789012 was deleted",
    "callFunctionCheckIfDataAlreadyExists",
    # What people say about passwords.
    "the password is wrong",
    "the password is required",
    "the password is reset every month",
    "The password was reset.",
    "the password is incorrect, try again",
    "my password is not working",
    "the password for staging is the same as before",
    "the password is in 1Password",
    "the password is stored in the vault",
    "password is being rotated tomorrow",
    "the password is too short",
    "the password is at least 12 characters",
    "the password is 8 characters long",
    "the password is base64 encoded",
    "the password is sha256-hashed",
    "the password is expired.",
    "password policy: at least 12 characters",
    "password: required",
    "password: ask ana",
    "Password reset link was sent",
    "forgot password?",
    "please change your password",
    "where is the password for the wiki?",
    "no password is needed",
    "can you reset my password: I am locked out",
    "the token is expired",
    "the token is a JWT",
    "token count: 128000",
    "max_tokens=4096",
    "tokens: 1200",
    "token_limit=8000",
    "token: expired",
    "the secret is consistency",
    "the secret to good bread is time",
    "secret santa is on friday",
    "the key is to start early",
    "key: value",
    "the api key is missing",
    "api key is required for this endpoint",
    "set the api key: see the wiki",
    # Placeholders and code.
    "password=$DB_PASS",
    "password=${DB_PASS}",
    "password=<your password>",
    "password: ********",
    "token=os.environ['TOKEN']",
    "password = get_password()",
    "password: str",
    "password=None",
    "api_key=settings.api_key",
    "https://example.com/path?user=ana",
    "https://medium.com/@ana/some-post:part-2",
    "ssh://git@github.com:22/a/b",
    "postgres://localhost:5432/main",
    "mail ana@example.com: done",
    "http://10.0.0.9:8080/health",
    "postgresql://$USER:$PASS@localhost/main",
    # Identifiers of all sorts.
    "sha256:9f2c4d5e6f7a8b9c0d1e2f3a4b5c6d7e8f9a0b1c9f2c4d5e6f7a8b9c0d1e2f3a",
    "slack:T01ABCDEF:C01ABCDEF:1712412120.000100",
    "<@U01ABCDEF> and <#C01ABCDEF|ops>",
    "npm install left-pad@1.3.0",
    "sk-learn-migration-notes-for-the-new-release",
    "feature/add-token-refresh-to-the-login-flow",
    "TaskGroupCancelledErrorHandlerFactoryBean",
    "v2.11.0-rc.4+build.20260406",
    "passport control, compass north, bypass valve, passing tests: 14",
    "pass: 14, fail: 2",
    "the trespass = bad",
    "192.168.178.24:51820 is up",
    "call me at +49 170 1234567",
    "AKIA is the prefix of their key ids",
    "ghp_ is how GitHub tokens start",
    "eyJ is how a JWT starts",
    # Other languages.
    "密码是必填的",
    "密码错误",
    "密码是8位数",
    "密码忘了怎么办",
    "密码不对",
    "令牌已过期",
    "das Passwort ist falsch",
    "das Passwort ist abgelaufen",
    "Das Passwort wurde geändert.",
    "das Passwort ist zu kurz",
    "Passwort vergessen",
    "パスワードは必須です",
    "パスワードを忘れました",
    "パスワードは8文字以上",
    "le mot de passe est incorrect",
    "la contraseña es incorrecta",
    "비밀번호를 잊어버렸어요",
    # Plain talk.
    "deploy at 15:00, ask @ben first",
    "we decided to use Postgres 16 because of logical replication",
    "🎉🎉 shipped!",
    "",
    "   ",
)  # fmt: skip
