/**
 * Where an answer of a stand-in has another form than the recorded one: fields that the recorded answer lacks, and values of
 * another kind. Null fits every kind, and only the first row of a list is compared. The stand-in may lack fields.
 */
export function shapeFaults(recorded: unknown, standIn: unknown, path = 'body'): string[] {
  if (recorded === null || standIn === null || standIn === undefined) return []
  const [real, ours] = [kindOf(recorded), kindOf(standIn)]
  if (real !== ours) return [`${path}: ${ours}, recorded ${real}`]
  if (Array.isArray(standIn) && Array.isArray(recorded))
    return recorded.length === 0 ? [] : shapeFaults(recorded[0], standIn[0], `${path}[0]`)
  if (ours !== 'object') return []
  const fields = recorded as Record<string, unknown>
  return Object.entries(standIn as object).flatMap(([name, value]) =>
    name in fields ? shapeFaults(fields[name], value, `${path}.${name}`) : [`${path}.${name}: not recorded`],
  )
}

const kindOf = (value: unknown): string =>
  value === undefined ? 'nothing' : Array.isArray(value) ? 'list' : typeof value
