import { readFromTab, storeInTab } from '../../lib/tab-storage.js'
import type { Form } from './state.js'

/** What was filled in stays in this tab, so that a reload or Back loses nothing. */
const key = () => `tip:draft:${location.pathname}`

export function storeDraft(form: Form): void {
  storeInTab(key(), { ...form, showFaults: false })
}

export function readDraft(): Partial<Form> {
  return readFromTab<Partial<Form>>(key()) ?? {}
}
