/**
 * SQL that adds rows to the sums behind the daily figures (docs/decisions/0024). It belongs into the statement that changes
 * the tips, so that the sums always match them. `rows`: a query of party, recorded_at, mint, decimals, n (tips) and raw (base
 * units); both are negative when tips are taken back. The order of the rows is the order of locks.
 */
export function addToSums(rows: string): string {
  return /* sql */ `
    insert into tip_sums as s (party_id, hour, mint, decimals, count, raw)
    select party, date_trunc('hour', recorded_at, 'UTC') as hour, mint, min(decimals), sum(n), sum(raw)
    from (${rows}) changed group by 1, 2, 3 order by 1, 2, 3
    on conflict (party_id, hour, mint) do update set count = s.count + excluded.count, raw = s.raw + excluded.raw`
}
