import { useState } from 'preact/hooks'
import { statementWords as text } from '../../i18n/dashboard/statement.js'
import { ngn, usd } from '../../lib/money.js'
import { Select } from '../../ui/fields.js'
import { Button } from '../../ui/kit.js'
import type { YearlyStatement } from '../answers.js'
import { Unread } from '../parts/notices.js'
import { CsvButton } from '../parts/rows.js'
import { useLoad } from '../requests.js'
import { replaceQuery, useRoute } from '../route.js'
import { useSession } from '../session.js'

type Statement = YearlyStatement['statement']
type Sums = Statement['totals']

const firstYear = 2024

/** A year, month by month: on the screen, on paper and as a file. */
export function StatementScreen() {
  const { me } = useSession()
  const { query } = useRoute()
  const [thisYear] = useState(() => new Date().getFullYear())
  const years = Array.from({ length: thisYear - firstYear + 1 }, (_, at) => String(thisYear - at))
  const year = years.find((one) => one === query.get('year')) ?? String(thisYear)
  const path = `/creators/statement?year=${year}`
  const load = useLoad<YearlyStatement>(path)
  const statement = load.data?.statement
  return (
    <section class="card printed" aria-labelledby="statement-title">
      <header class="row">
        <div>
          <h2 id="statement-title">{text.title(year)}</h2>
          <p>
            <bdi>{me.name}</bdi> · <bdi>{me.email}</bdi>
          </p>
        </div>
        <div class="wrap no-print">
          <Select
            label={text.year}
            bare
            choices={years}
            texts={Object.fromEntries(years.map((one) => [one, one]))}
            chosen={year}
            onChoose={(chosen) => replaceQuery(new URLSearchParams({ year: chosen }))}
          />
          <CsvButton path={path} fileName={`statement-${year}.csv`} />
        </div>
      </header>
      {statement === undefined ? <Unread of={load} /> : <Months statement={statement} />}
      {statement !== undefined && (
        <>
          <p class="quiet">{text.basis(statement.timeZone)}</p>
          <div class="no-print">
            <Button text={text.print} onPress={() => window.print()} />
          </div>
        </>
      )}
    </section>
  )
}

/** Each with its column's head. A column without an amount in the year is left out, but for those that every year has. */
const columns: readonly (readonly [keyof Sums, (amount: number) => string, always: boolean])[] = [
  ['tips', String, true],
  ['paidNGN', ngn, true],
  ['platformFeeUSD', usd, true],
  ['receivedUSDC', usd, true],
  ['givenBackUSDC', usd, false],
  ['takenOutUSDC', usd, false],
  ['otherUSDC', usd, false],
  ['withdrawnUSDC', usd, true],
  ['systemFeeNGN', ngn, true],
  ['amountNGN', ngn, true],
]

function Months({
  statement: { months, totals, openingUSDC, closingUSDC },
}: {
  readonly statement: Statement
}) {
  const shown = columns.filter(([key, , always]) => always || totals[key] !== 0)
  const cells = (sums: Sums) =>
    shown.map(([key, amountText]) => (
      <td key={key} class="table__figure number">
        {amountText(sums[key])}
      </td>
    ))
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section class="statement__table" tabIndex={0} aria-labelledby="statement-title">
      <table class="table">
        <thead>
          <tr>
            <th scope="col">{text.month}</th>
            {shown.map(([key]) => (
              <th key={key} scope="col" class="table__figure">
                {text.columns[key]}
              </th>
            ))}
            <th scope="col" class="table__figure">
              {text.balance}
            </th>
          </tr>
        </thead>
        <tbody>
          <tr>
            <th scope="row">{text.opening}</th>
            <td colSpan={shown.length} />
            <td class="table__figure number">{usd(openingUSDC)}</td>
          </tr>
          {months.map(({ month, balanceUSDC, ...sums }) => (
            <tr key={month}>
              <th scope="row">{monthText(month)}</th>
              {cells(sums)}
              <td class="table__figure number">{usd(balanceUSDC)}</td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr class="strong">
            <th scope="row">{text.total}</th>
            {cells(totals)}
            <td class="table__figure number">{usd(closingUSDC)}</td>
          </tr>
        </tfoot>
      </table>
    </section>
  )
}

const monthName = new Intl.DateTimeFormat('en-GB', { month: 'long', timeZone: 'UTC' })

/** `March` for `2026-03`. */
function monthText(month: string): string {
  return monthName.format(new Date(`${month}-01T00:00:00Z`))
}
