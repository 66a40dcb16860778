import { words } from '../../i18n/dashboard.js'
import { usd, usdBelow } from '../../lib/money.js'
import { amountText } from '../../lib/tip-text.js'
import { Button } from '../../ui/kit.js'
import type { Balance, OwnPage, Profile, TipsPage, TokenBalances } from '../answers.js'
import { useShown } from '../connection.js'
import { useThrottled } from '../dates.js'
import { ScreenLink } from '../parts/links.js'
import { ClaimsNotice, FaultNotice, Loading, StraightToWallet } from '../parts/notices.js'
import { RateProvider, space, useNaira, useRate } from '../parts/rate.js'
import { type Loaded, useLoad, usePolling } from '../requests.js'
import { go } from '../route.js'
import { useSession } from '../session.js'
import { LiveTips, newestTipsPath } from '../tips/live-tips.js'
import { useNewsOfScreen } from '../tips/news.js'
import { DailyChart, useDays } from './daily-chart.js'
import { SetUp } from './set-up.js'
import { YourLink } from './your-link.js'

/** A confirmed tip becomes final in about this time. */
const balanceEveryMs = 15_000
const walletEveryMs = 2000
/** A reload is four requests: at most 80 a minute, two thirds of the rate limit of an address. */
const minReloadMs = 3000

export function Home() {
  const { me, refresh } = useSession()
  const news = useNewsOfScreen()
  // The requests for each change stay below the rate limit while many tips arrive.
  const version = useThrottled(news.count, minReloadMs)
  const balance = useLoad<Balance>('/creators/balance', version)
  const tokens = useLoad<TokenBalances>('/creators/balance/tokens', version)
  const page = useLoad<OwnPage>('/creators/page')
  const profile = useLoad<Profile>('/creators/me')
  const days = useDays(version)
  const tips = useLoad<TipsPage>(newestTipsPath)
  const { rate, isOver } = useRate()
  const shown = useShown(isOver && [balance, tokens, page, profile, days, tips].every((load) => load.isOver))
  usePolling(balance.reload, balanceEveryMs, true)
  usePolling(refresh, walletEveryMs, me.walletPublicKey === null)
  // All parts at once: one that comes later would move those below.
  if (!shown) return <Loading />
  const { url } = page.data?.page ?? {}
  const link = url && <YourLink url={url} />
  // The first tip comes by the link: it takes the place of the form that made it.
  const isNew = tips.data?.tips.length === 0
  return (
    <RateProvider value={rate}>
      <ClaimsNotice of={balance} />
      {profile.data?.creator.settings.tipsTo === 'payout_wallet' && <StraightToWallet />}
      {isNew && link}
      <SetUp page={page} profile={profile} />
      <LiveTips news={news} version={version} tips={tips} />
      <BalanceCard balance={balance} tokens={tokens.data?.tokens ?? []} />
      {!isNew && link}
      <DailyChart days={days} />
    </RateProvider>
  )
}

const figures = [
  ['availableUSDC', words.balance.available, words.balance.availableHint],
  ['pendingUSDC', words.balance.pending, words.balance.pendingHint],
  ['heldUSDC', words.balance.held, words.balance.heldHint],
] as const

type BalanceCardProps = { balance: Loaded<Balance>; tokens: TokenBalances['tokens'] }

function BalanceCard({ balance: { data, unread, reload }, tokens }: BalanceCardProps) {
  const naira = useNaira()
  return (
    <section class="card balance" aria-label={words.balance.title}>
      <dl class="balance__figures">
        {figures.map(([key, name, hint]) => {
          const amount = data?.balance[key]
          return (
            <div key={key} class={key}>
              <dt>{name}</dt>
              <dd class="number balance__amount">{amount === undefined ? '–' : usdBelow(amount)}</dd>
              {amount !== undefined && amount > 0 && <dd class="quiet number">{naira(amount) ?? space}</dd>}
              <dd class="quiet">{hint}</dd>
            </div>
          )
        })}
      </dl>
      <div class="balance__act">
        <FaultNotice fault={unread} tone="warn" onRetry={reload} />
        <Button kind="primary" text={words.balance.withdraw} onPress={() => go('withdraw')} />
      </div>
      {tokens.length > 0 && <OtherTokens tokens={tokens} />}
    </section>
  )
}

function OtherTokens({ tokens }: { readonly tokens: TokenBalances['tokens'] }) {
  return (
    <div class="balance__tokens">
      <h3>{words.otherTokens.title}</h3>
      <ul class="wrap">
        {tokens.map(({ symbol, mint, amount, valueUsd }) => (
          <li key={mint} class="number">
            <strong>{amountText(amount, symbol)}</strong>{' '}
            <span class="quiet">{words.otherTokens.worth(usd(valueUsd))}</span>
          </li>
        ))}
      </ul>
      <p class="quiet">
        {words.otherTokens.effect} <ScreenLink to="take-out">{words.otherTokens.takeOut}</ScreenLink>
      </p>
      <p class="quiet">
        {words.otherTokens.convert} <ScreenLink to="settings">{words.otherTokens.settings}</ScreenLink>
      </p>
    </div>
  )
}
