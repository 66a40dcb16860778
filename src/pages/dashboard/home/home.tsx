import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import type { Balance } from '../answers.js'
import { useSession } from '../session.js'
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
  const balance = useLoad<{ balance: Balance }>('/creators/balance')
  const news = useTipNews(me.walletPublicKey)
  const turn = useCalm(news.count, leastReloadMs)
  useEvery(balance.reload, balanceEveryMs, true)
  useEvery(refresh, walletEveryMs, me.walletPublicKey === null)
  useEffect(() => {
    if (turn > 0) balance.reload()
  }, [turn, balance.reload])
  return (
    <div class="home">
      <BalanceCard balance={balance.data?.balance} fault={balance.fault} onRetry={balance.reload} />
      <SetUp />
      <DailyChart turn={turn} />
      <LiveTips news={news} turn={turn} />
    </div>
  )
}

/** Calls again and again while the page is seen. */
function useEvery(call: () => void, ms: number, wanted: boolean): void {
  useEffect(() => {
    if (!wanted) return
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') call()
    }, ms)
    return () => clearInterval(timer)
  }, [call, ms, wanted])
}
