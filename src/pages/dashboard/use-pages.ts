import { useEffect, useRef, useState } from 'preact/hooks'
import { call } from './api.js'
import { useSubmit } from './use-submit.js'

interface Page {
  readonly nextCursor: string | null
}

/** How the next page is read. `next`: where it begins; undefined after the last one. */
export interface FurtherPages {
  readonly next: string | undefined
  readonly busy: boolean
  readonly fault: string | undefined
  readonly more: () => void
}

/** The pages after the first, one for each press of a button. A new first page resets them. */
export function useFurtherPages<P extends Page>(
  pathAfter: (cursor?: string) => string,
  first: P | undefined,
): FurtherPages & { readonly pages: readonly P[] } {
  const [pages, setPages] = useState<readonly P[]>([])
  const next = (pages.at(-1) ?? first)?.nextCursor ?? undefined
  const shown = useRef(first)
  shown.current = first
  const { busy, fault, run, clear } = useSubmit(async (cursor: string) => {
    const page = await call<P>('GET', pathAfter(cursor))
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
  return { pages, next, busy, fault, more }
}
