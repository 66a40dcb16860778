import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { saveFile } from '../../lib/save-file.js'
import { request } from '../api.js'
import { useSubmit } from '../requests.js'
import { TextButton } from './links.js'

/** At most 10,000 rows in a file, because the page holds all of them in memory. */
const maxPages = 100
const pageSize = 100

/** Saves all rows of a list of the API as one CSV file. */
export function CsvButton({
  path,
  fileName,
}: {
  /** The path of the list's first page, with 100 rows to a page. */
  readonly path: string
  readonly fileName: string
}): JSX.Element {
  const [rows, setRows] = useState(0)
  const saving = useSubmit(async () => {
    saveFile(fileName, await fetchAllPages(`${path}&format=csv`, setRows), 'text/csv')
  })
  return (
    <span>
      <TextButton aria-disabled={saving.busy} onPress={saving.run}>
        {saving.busy ? words.csv.busy(rows) : words.csv.save}
      </TextButton>
      {saving.fault !== undefined && (
        <span class="field__fault" role="alert">
          {' '}
          {words.fault(saving.fault)}
        </span>
      )}
    </span>
  )
}

async function fetchAllPages(path: string, onProgress: (rows: number) => void): Promise<string> {
  let text = ''
  let next: string | undefined = path
  for (let page = 1; next !== undefined && page <= maxPages; page++) {
    const response: Response = await request('GET', next)
    const part = await response.text()
    text += page === 1 ? part : part.slice(part.indexOf('\r\n') + 2)
    next = /^<([^>]+)>; rel="next"$/.exec(response.headers.get('link') ?? '')?.[1]
    onProgress(page * pageSize)
  }
  return text
}
