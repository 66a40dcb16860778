import type { JSX } from 'preact'
import { words } from '../../i18n/dashboard.js'
import type { ApiKey, Balance, Profile, TipsPage, TokenBalance } from '../answers.js'
import { ClaimsNotice } from '../parts/claims-notice.js'
import { useLoadedRate } from '../parts/use-rate.js'
import { useShown } from '../parts/use-shown.js'
import { StraightToWallet } from '../parts/wallets/straight-to-wallet.js'
import { useSession } from '../session.js'
import { LiveTips, newestTipsPath } from '../tips/live-tips.js'
import { useTipNews } from '../tips/tip-news.js'
import { isOver, useLoad } from '../use-load.js'
import { usePolling } from '../use-polling.js'
import { BalanceCard } from './balance-card.js'
import { DailyChart, useDays } from './daily-chart.js'
import { SetUp } from './set-up.js'
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
  const keys = useLoad<{ apiKeys: readonly ApiKey[] }>('/creators/api-keys')
  const profile = useLoad<{ creator: Profile }>('/creators/me')
  const days = useDays(version)
  const tips = useLoad<TipsPage>(newestTipsPath)
  const { rate, isOver: rateIsOver } = useLoadedRate()
  const complete = [balance, tokens, keys, profile, days.loaded, tips].every(isOver) && rateIsOver
  const shown = useShown(complete)
  usePolling(balance.reload, balanceEveryMs, true)
  usePolling(refresh, walletEveryMs, me.walletPublicKey === null)
  // All parts at once: one that comes later would move those below.
  if (!shown) return <p class="quiet">{words.loading}</p>
  return (
    <div class="home">
      <ClaimsNotice balance={balance.data?.balance} />
      {profile.data?.creator.settings.tipsTo === 'payout_wallet' && <StraightToWallet />}
      <BalanceCard
        balance={balance.data?.balance}
        rate={rate}
        tokens={tokens.data?.tokens ?? []}
        fault={balance.fault}
        onRetry={balance.reload}
      />
      <SetUp keys={keys} profile={profile} />
      <DailyChart days={days} rate={rate} />
      <LiveTips news={news} version={version} tips={tips} rate={rate} />
    </div>
  )
}
