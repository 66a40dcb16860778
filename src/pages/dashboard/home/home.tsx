import type { JSX } from 'preact'
import type { Balance, TokenBalance } from '../answers.js'
import { useRate } from '../parts/use-rate.js'
import { useSession } from '../session.js'
import { useLoad } from '../use-load.js'
import { usePolling } from '../use-polling.js'
import { BalanceCard } from './balance-card.js'
import { DailyChart } from './daily-chart.js'
import { LiveTips } from './live-tips.js'
import { SetUp } from './set-up.js'
import { useTipNews } from './tip-news.js'
import { useThrottled } from './use-throttled.js'

/** A confirmed tip becomes final in about this time. */
const balanceEveryMs = 15_000
const walletEveryMs = 2000
/** A reload is four requests: at most 80 a minute, two thirds of the rate limit of an address. */
const minReloadMs = 3000

/** The start screen: balance, set-up steps, daily chart and live tips. */
export function Home(): JSX.Element {
  const { me, refresh } = useSession()
  const news = useTipNews(me.walletPublicKey)
  const version = useThrottled(news.count, minReloadMs)
  const balance = useLoad<{ balance: Balance }>('/creators/balance', version)
  const tokens = useLoad<{ tokens: readonly TokenBalance[] }>('/creators/balance/tokens', version)
  const rate = useRate()
  usePolling(balance.reload, balanceEveryMs, true)
  usePolling(refresh, walletEveryMs, me.walletPublicKey === null)
  return (
    <div class="home">
      <BalanceCard
        balance={balance.data?.balance}
        rate={rate}
        tokens={tokens.data?.tokens ?? []}
        fault={balance.fault}
        onRetry={balance.reload}
      />
      <SetUp />
      <DailyChart version={version} rate={rate} />
      <LiveTips news={news} version={version} rate={rate} />
    </div>
  )
}
