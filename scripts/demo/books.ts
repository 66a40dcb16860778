import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** Fails unless every invariant of the ledger holds; tells what each kind of account holds. */
export async function checkBooks(say: (text: string) => void): Promise<void> {
  const { stdout } = await promisify(execFile)(process.execPath, ['dist/scripts/ops/check-books.js'])
  const [, ...told] = stdout.trim().split('\n\n')
  for (const line of told.join('\n').split('\n')) say(line)
}
