import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { Button } from '../../ui/controls/button.js'
import { Announcer } from '../../ui/messages/announcer.js'
import type { ListedTip, TipsPage } from '../answers.js'
import { call } from '../api.js'
import { useNow } from '../dates.js'
import { NoTips } from '../home/live-tips.js'
import { FaultNotice } from '../parts/fault-notice.js'
import { replaceQuery, useRoute } from '../route.js'
import { useLoad } from '../use-load.js'
import { useSubmit } from '../use-submit.js'
import { CsvButton } from './csv-button.js'
import { FilterBar } from './filter-bar.js'
import { type Filters, readFilters, tipsPath, writeFilters } from './filters.js'
import { TipDrawer } from './tip-drawer.js'
import { TipRow } from './tip-row.js'

/** The creator's tips, filtered by the screen's URL. */
export function Tips(): JSX.Element {
  const { query } = useRoute()
  const filters = readFilters(query)
  const [startedAt] = useState(Date.now)
  const pathAfter = (cursor?: string): string => tipsPath(filters, startedAt, cursor)
  const first = useLoad<TipsPage>(pathAfter())
  const further = useFurtherPages(pathAfter, first.data)
  const [open, setOpen] = useState<ListedTip>()
  const now = useNow()
  const tips = [...(first.data?.tips ?? []), ...further.tips]
  const filtered = writeFilters(filters).size > 0
  const set = (change: Partial<Filters>): void => replaceQuery(writeFilters({ ...filters, ...change }))
  return (
    <section class="card">
      <FilterBar filters={filters} onChange={set} />
      <div class="tips__count">
        <p class="quiet">
          {first.data === undefined
            ? words.loading
            : words.tips.count(tips.length, further.next !== undefined)}
        </p>
        <CsvButton filters={filters} startedAt={startedAt} />
      </div>
      <Announcer
        text={first.data === undefined ? '' : words.tips.count(tips.length, further.next !== undefined)}
      />
      <FaultNotice fault={first.fault} tone="warn" onRetry={first.reload} />
      {first.data !== undefined && tips.length === 0 && (filtered ? <NothingFound /> : <NoTips />)}
      <ul class="rows">
        {tips.map((tip) => (
          <TipRow key={tip.signature} tip={tip} now={now} onOpen={() => setOpen(tip)} />
        ))}
      </ul>
      <FaultNotice fault={further.fault} tone="warn" />
      {further.next !== undefined && (
        <Button busy={further.busy} onPress={further.more}>
          {words.tips.more}
        </Button>
      )}
      {open !== undefined && <TipDrawer tip={open} onClose={() => setOpen(undefined)} />}
    </section>
  )
}

function NothingFound(): JSX.Element {
  return (
    <div class="empty">
      <p>{words.tips.nothingFound}</p>
      <Button onPress={() => replaceQuery(new URLSearchParams())}>{words.tips.clear}</Button>
    </div>
  )
}

/** The pages after the first, one for each press of the button. A new first page resets them. */
function useFurtherPages(pathAfter: (cursor?: string) => string, first: TipsPage | undefined) {
  const [pages, setPages] = useState<readonly TipsPage[]>([])
  const next = (pages.at(-1) ?? first)?.nextCursor ?? undefined
  const shown = useRef(first)
  shown.current = first
  const { busy, fault, run, clear } = useSubmit(async (cursor: string) => {
    const page = await call<TipsPage>('GET', pathAfter(cursor))
    // The filters may have changed meanwhile.
    if (shown.current === first) setPages((before) => [...before, page])
  })
  useEffect(() => {
    setPages([])
    clear()
    // The further pages belong to the first page.
  }, [pathAfter(), first])
  const more = (): void => {
    if (next !== undefined) run(next)
  }
  return { tips: pages.flatMap(({ tips }) => tips), next, busy, fault, more }
}
