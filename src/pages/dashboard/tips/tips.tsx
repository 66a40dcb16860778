import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { Button } from '../../ui/controls/button.js'
import { Announcer } from '../../ui/messages/announcer.js'
import { Notice } from '../../ui/messages/notice.js'
import type { Balance, ListedTip, TipsPage } from '../answers.js'
import { momentText, useNow } from '../dates.js'
import { ClaimsNotice } from '../parts/claims-notice.js'
import { CsvButton } from '../parts/csv-button.js'
import { useDrawer } from '../parts/drawer.js'
import { FaultNotice } from '../parts/fault-notice.js'
import { MoreButton } from '../parts/lists/more-button.js'
import { useRate } from '../parts/use-rate.js'
import { useShown } from '../parts/use-shown.js'
import { replaceQuery, useRoute } from '../route.js'
import { isOver, useLoad } from '../use-load.js'
import { useFurtherPages } from '../use-pages.js'
import { FilterBar } from './filter-bar.js'
import { type Filters, readFilters, tipsPath, writeFilters } from './filters.js'
import { NoTips } from './live-tips.js'
import { TipDrawer } from './tip-drawer.js'
import { TipRows } from './tip-row.js'

const csvPageSize = 100

/** The creator's tips, filtered by the screen's URL. */
export function Tips(): JSX.Element {
  const { query } = useRoute()
  const filters = readFilters(query)
  const [startedAt] = useState(Date.now)
  const pathAfter = (cursor?: string): string => tipsPath(filters, startedAt, cursor)
  const list = useLoad<TipsPage>(pathAfter())
  const balance = useLoad<{ balance: Balance }>('/creators/balance')
  // The notice above the list must not move it.
  const shown = useShown(isOver(balance))
  const first = shown ? list : { ...list, data: undefined }
  const further = useFurtherPages(pathAfter, first.data)
  const [givenBack, setGivenBack] = useState<Readonly<Record<string, number>>>({})
  const drawer = useDrawer()
  const now = useNow()
  const rate = useRate()
  const searchedSince = first.data?.searchedSince ?? undefined
  const tips = [...(first.data?.tips ?? []), ...further.pages.flatMap((page) => page.tips)].map((tip) =>
    withGivenBack(tip, givenBack[tip.signature]),
  )
  const open = tips.find(({ signature }) => signature === drawer.open)
  const filtered = writeFilters(filters).size > 0
  const set = (change: Partial<Filters>): void => replaceQuery(writeFilters({ ...filters, ...change }))
  return (
    <section class="card">
      {shown && <ClaimsNotice balance={balance.data?.balance} />}
      <FilterBar filters={filters} onChange={set} />
      <div class="tips__count">
        <p class="quiet">
          {first.data === undefined
            ? words.loading
            : words.tips.count(tips.length, further.next !== undefined)}
        </p>
        <CsvButton path={tipsPath(filters, startedAt, undefined, csvPageSize)} fileName="tips.csv" />
      </div>
      <Announcer
        text={first.data === undefined ? '' : words.tips.count(tips.length, further.next !== undefined)}
      />
      {searchedSince !== undefined && (
        <Notice tone="plain" icon="warn">
          {words.tips.searchedSince(momentText(searchedSince))}
        </Notice>
      )}
      <FaultNotice fault={first.fault} tone="warn" onRetry={first.reload} />
      {first.data !== undefined && tips.length === 0 && (filtered ? <NothingFound /> : <NoTips />)}
      <TipRows tips={tips} rate={rate} now={now} onOpen={(signature) => drawer.show(signature)} />
      <MoreButton pages={further} />
      {open !== undefined && (
        <TipDrawer
          tip={open}
          rate={rate}
          onGivenBack={(dollars) => {
            setGivenBack((before) => ({ ...before, [open.signature]: dollars }))
            balance.reload()
          }}
          onClose={drawer.close}
        />
      )}
    </section>
  )
}

/** A tip with what was given back since the list was read. */
function withGivenBack(tip: ListedTip, dollars: number | undefined): ListedTip {
  return dollars === undefined ? tip : { ...tip, refundedAmount: dollars === 0 ? undefined : dollars }
}

function NothingFound(): JSX.Element {
  return (
    <div class="empty">
      <p>{words.tips.nothingFound}</p>
      <Button onPress={() => replaceQuery(new URLSearchParams())}>{words.tips.clear}</Button>
    </div>
  )
}
