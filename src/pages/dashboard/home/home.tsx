import type { JSX } from 'preact'
import type { Balance } from '../answers.js'
import { useSession } from '../session.js'
import { useEvery } from '../use-every.js'
import { useLoad } from '../use-load.js'
import { BalanceCard } from './balance-card.js'
import { DailyChart } from './daily-chart.js'
import { LiveTips } from './live-tips.js'
import { SetUp } from './set-up.js'
import { useTipNews } from './tip-news.js'
import { useCalm } from './use-calm.js'

/** Long enough for what was just confirmed to be final, and for a wallet to be made. */
const balanceEveryMs = 15_000
const walletEveryMs = 2000
/** Three questions each time: sixty a minute at most, half of what an address may ask. */
const leastReloadMs = 3000

/** What a creator looks at most: the money, how it is going, and what comes in right now. */
export function Home(): JSX.Element {
  const { me, refresh } = useSession()
  const news = useTipNews(me.walletPublicKey)
  const turn = useCalm(news.count, leastReloadMs)
  const balance = useLoad<{ balance: Balance }>('/creators/balance', turn)
  useEvery(balance.reload, balanceEveryMs, true)
  useEvery(refresh, walletEveryMs, me.walletPublicKey === null)
  return (
    <div class="home">
      <BalanceCard balance={balance.data?.balance} fault={balance.fault} onRetry={balance.reload} />
      <SetUp />
      <DailyChart turn={turn} />
      <LiveTips news={news} turn={turn} />
    </div>
  )
}
