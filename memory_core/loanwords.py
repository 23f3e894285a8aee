"""One thing, several words: what Chinese, Japanese and Korean call by an English word, or by several of their own.

A line is what the words are compared as (an English word, stemmed like any other, so that the word itself meets them
too) and the words: mainland and Taiwanese Chinese (the pairs are those of OpenCC 1.4.2's TWPhrases, Apache-2.0), the
katakana and hangul loanwords of the same thing, and what an office calls it. Only words of two or more characters
that mean one thing by themselves, compared in the form of memory_core.han. Its own pairs stay: this comes on top.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

WORDS = """
account 账号 账户 帳號 帳戶 アカウント 계정
address 地址 位址 住所 アドレス 주소
alert 告警 警报 警報 アラート 경보
algorithm 算法 演算法 アルゴリズム 알고리즘
api 接口 介面 インターフェース
app 应用 應用 アプリ
architecture 架构 架構 アーキテクチャ 아키텍처
array 数组 陣列 配列 배열
asynchronous 异步 非同步 非同期 비동기
authentication 认证 認證 鉴权 認証 인증
backend 后端 後端 バックエンド 백엔드
backup 备份 備份 バックアップ 백업
bandwidth 带宽 頻寬 帯域 대역폭
batch 批量 批次 批处理 バッチ 배치
birthday 生日 誕生日 생일
blog 博客 部落格 ブログ 블로그
branch 分支 ブランチ 브랜치
browser 浏览器 瀏覽器 ブラウザ 브라우저
budget 预算 預算 予算 예산
bug 缺陷 バグ 버그
build 构建 建置 ビルド 빌드
cache 缓存 快取 高速缓存 キャッシュ 캐시
calendar 日历 行事曆 カレンダー 캘린더
catalog カタログ 카탈로그
certificate 证书 憑證 証明書 인증서
chat 聊天 チャット 채팅
class 类别 クラス 클래스
click 点击 點選 クリック 클릭
client 客户端 用戶端 クライアント 클라이언트
cloud 云端 雲端 クラウド 클라우드
cluster 集群 叢集 クラスタ クラスター 클러스터
code 代码 程式碼 コード 코드
comment 评论 留言 コメント 댓글
commit 提交 コミット 커밋
compatible 兼容 相容 互換 호환
computer 电脑 計算機 コンピュータ 컴퓨터
configuration 配置 設定 设置 コンフィグ 설정
connection 连接 連線 接続 연결
container 容器 コンテナ 컨테이너
contract 合同 合約 契約 계약
coupon 优惠券 折價券 クーポン 쿠폰
customer 客户 顧客 客戶 お客様 고객
data 数据 資料 データ 데이터
database 数据库 資料庫 データベース 데이터베이스 디비
deadline 截止 期限 締め切り 締切 마감
debug 调试 除錯 偵錯 デバッグ 디버그
default 默认 缺省 預設 デフォルト 기본값
demo 演示 デモ 데모
deploy 部署 デプロイ 배포
design 设计 設計 デザイン 디자인
device 设备 裝置 デバイス 端末 장치
directory 目录 目錄 ディレクトリ 디렉터리
discount 折扣 割引 할인
disk 磁盘 磁碟 硬盘 硬碟 ディスク 디스크
screen 屏幕 螢幕 显示器 画面 スクリーン ディスプレイ 화면
document 文档 ドキュメント 문서
domain 域名 網域 ドメイン 도메인
download 下载 下載 ダウンロード 다운로드
driver 驱动 驅動 ドライバ ドライバー 드라이버
email 邮件 郵件 电子邮件 電子郵件 メール 이메일 메일
encryption 加密 暗号化 암호화
environment 环境 環境 환경
error 报错 错误 錯誤 エラー 에러 오류
event 活动 活動 イベント 이벤트
export 导出 匯出 エクスポート 내보내기
feature 功能 機能 기능
file 文件 檔案 ファイル 파일
firewall 防火墙 防火牆 ファイアウォール 방화벽
firmware 固件 韌體 ファームウェア 펌웨어
folder 文件夹 資料夾 フォルダ フォルダー 폴더
font 字体 字型 フォント 글꼴 폰트
framework 框架 フレームワーク 프레임워크
frontend 前端 フロントエンド 프런트엔드 프론트엔드
function 函数 函式 関数 함수
gateway 网关 閘道 閘道器 ゲートウェイ 게이트웨이
hardware 硬件 硬體 ハードウェア 하드웨어
hash 哈希 散列 雜湊 ハッシュ 해시
hotel 酒店 飯店 ホテル 호텔
icon 图标 圖示 アイコン 아이콘
image 图片 圖片 画像 이미지
import 导入 匯入 インポート 가져오기
index 索引 インデックス 인덱스
information 信息 資訊 情報 정보
interface 界面 インターフェイス 인터페이스
internet 互联网 網際網路 インターネット 인터넷
invoice 发票 發票 請求書 インボイス 송장
script 脚本 指令碼 スクリプト 스크립트
kernel 内核 核心 カーネル 커널
key 密钥 金鑰 キー 키값
keyboard 键盘 鍵盤 キーボード 키보드
label 标签 標籤 ラベル 라벨
library 类库 函式庫 ライブラリ 라이브러리
link 链接 連結 リンク 링크
load 加载 載入 ロード 로드
log 日志 日誌 ログ 로그
login 登录 登入 ログイン 로그인
logout 注销 登出 ログアウト 로그아웃
manual 手册 手冊 マニュアル 매뉴얼
meeting 会议 開會 开会 会議 打ち合わせ ミーティング 회의
member 会员 會員 会員 メンバー 회원
memory 内存 記憶體 メモリ メモリー 메모리
menu 菜单 選單 メニュー 메뉴
merge 合并 合併 マージ 병합
message 消息 訊息 メッセージ 메시지
middleware 中间件 中介軟體 ミドルウェア 미들웨어
migration 迁移 遷移 移行 マイグレーション 마이그레이션
mirror 镜像 映像檔 イメージ
mobile 移动 行動 モバイル 모바일
module 模块 模組 モジュール 모듈
monitoring 监控 監控 監視 モニタリング 모니터링
weekly-report 周报 週報
mouse 鼠标 滑鼠 マウス 마우스
network 网络 網路 ネットワーク 네트워크
notification 通知 お知らせ 알림
object 对象 物件 オブジェクト 객체
order 订单 訂單 注文 オーダー 주문
parameter 参数 引數 參數 パラメータ パラメーター 매개변수
password 密码 密碼 パスワード 비밀번호 암호 패스워드
patch 补丁 修補程式 パッチ 패치
payment 支付 付款 決済 支払い 결제
performance 性能 效能 パフォーマンス 성능
permission 权限 許可權 權限 権限 권한
pipeline 流水线 パイプライン 파이프라인
phone 电话 電話 전화
plugin 插件 外掛 プラグイン 플러그인
port 端口 連接埠 ポート 포트
printer 打印机 印表機 プリンタ プリンター 프린터
process 进程 行程 プロセス 프로세스
program 程序 程式 プログラム 프로그램
project 项目 專案 プロジェクト 프로젝트
proxy 代理服务器 プロキシ 프록시
pull-request 拉取请求 合并请求 プルリクエスト プルリク 풀리퀘스트
query 查询 查詢 クエリ 쿼리
queue 队列 佇列 キュー 대기열
quota 配额 配額 クォータ 할당량
refund 退款 返金 환불
region 地域 リージョン 리전
reimbursement 报销 報銷 経費精算
release 发布 發佈 リリース 릴리스 릴리즈
repository 仓库 儲存庫 リポジトリ レポジトリ 저장소 리포지토리
request 请求 請求 リクエスト 요청
response 响应 回應 レスポンス 응답
restart 重启 重啟 再起動 リスタート 재시작
review 评审 審查 レビュー 리뷰
rollback 回滚 回滾 復原 ロールバック 롤백
router 路由器 ルータ ルーター 라우터
schedule 日程 スケジュール 일정
screenshot 截图 截屏 截圖 スクリーンショット スクショ 스크린샷
search 搜索 搜尋 検索 검색
security 安全 資安 セキュリティ 보안
sensor 传感器 感測器 センサー 센서
server 服务器 伺服器 サーバ サーバー 서버
session 会话 會話 工作階段 セッション 세션
shipping 配送 物流 発送 배송
smartphone 手机 手機 携帯電話 スマホ 휴대폰
software 软件 軟體 ソフトウェア ソフト 소프트웨어
spam 垃圾邮件 スパム 스팸
sprint 冲刺 スプリント 스프린트
staging 预发 ステージング 스테이징
stock 库存 庫存 在庫 재고
storage 存储 儲存 ストレージ 스토리지
string 字符串 字串 文字列 문자열
support 支持 支援 サポート 지원
system 系统 系統 システム 시스템
table 表格 テーブル 테이블
task 任务 任務 タスク 작업
team 团队 團隊 チーム
template 模板 範本 テンプレート 템플릿
test 测试 測試 テスト 테스트
thread 线程 執行緒 スレッド 스레드
ticket 工单 チケット 티켓
timeout 超时 逾時 タイムアウト 타임아웃
timezone 时区 時區 タイムゾーン 시간대
token 令牌 權杖 トークン 토큰
traffic 流量 トラフィック 트래픽
training 培训 研修 トレーニング 교육
transaction 事务 交易 トランザクション 트랜잭션
translation 翻译 翻譯 翻訳 번역
update 更新 アップデート 업데이트
upgrade 升级 升級 アップグレード 업그레이드
upload 上传 上傳 アップロード 업로드
user 用户 使用者 ユーザ ユーザー 利用者 사용자 유저
variable 变量 變數 変数 변수
version 版本 バージョン 버전
video 视频 影片 視訊 動画 ビデオ 동영상
virtual-machine 虚拟机 虛擬機 仮想マシン 가상머신
warehouse 仓储 倉庫 창고
website 网站 網站 ウェブサイト サイト 웹사이트
vacation 休假 假期 休暇 휴가
window 窗口 視窗 ウィンドウ 창문
workflow 工作流 ワークフロー 워크플로
"""


class Loanwords:
    """The words, ready to be found in a run of characters: by their first two characters, the longest first.

    `starts`: these characters; a run that has none of them has no such word.
    """

    def __init__(self, words: Mapping[str, tuple[str, ...]]) -> None:
        by_start: dict[str, list[tuple[str, tuple[str, ...]]]] = defaultdict(list)
        for word in sorted(words, key=len, reverse=True):
            by_start[word[:2]].append((word, words[word]))
        self._by_start = {start: tuple(found) for start, found in by_start.items()}
        self.starts = frozenset(by_start)

    def found_in(self, run: str, pairs: Sequence[str]) -> list[tuple[str, tuple[str, ...]]]:
        """The known words of `run`, from left to right, none within another, with what they are compared as.

        `pairs` are all of the run's neighbouring characters.
        """
        by_start = self._by_start
        found: list[tuple[str, tuple[str, ...]]] = []
        end = 0
        for at, pair in enumerate(pairs):
            if at >= end and pair in by_start:
                known = next((one for one in by_start[pair] if run.startswith(one[0], at)), None)
                if known is not None:
                    found.append(known)
                    end = at + len(known[0])
        return found
