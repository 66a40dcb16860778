import { words } from '../i18n/manual.js'
import { element } from './search.js'

/**
 * Adds a button that puts the values of who is signed in into the samples, so that they can be copied as they stand. A key is shown
 * only once, so nobody can fill it in.
 */
export function addFilling(header: Element): void {
  const button = element('button', { type: 'button', class: 'open-search' }, words.fill)
  button.addEventListener('click', () => {
    button.disabled = true
    void readOwn().then(
      (own) => {
        for (const sample of document.querySelectorAll('.code code')) fill(sample, own)
        button.textContent = words.filled
      },
      () => button.replaceWith(element('a', { href: '/dashboard', class: 'open-search' }, words.signIn)),
    )
  })
  header.querySelector('nav')?.before(button)
}

/** By their placeholders. A value that there is not yet keeps its placeholder. */
async function readOwn(): Promise<ReadonlyMap<string, string | null>> {
  const [{ user }, { page }] = await Promise.all([
    read<{ user: { id: string; walletPublicKey: string | null } }>('/auth/me'),
    read<{ page: { handle: string | null } }>('/creators/page'),
  ])
  return new Map([
    ['<user.id>', user.id],
    ['<wallet>', user.walletPublicKey],
    ['<handle>', page.handle],
  ])
}

async function read<Answer>(path: string): Promise<Answer> {
  const answer = await fetch(path)
  if (!answer.ok) throw new Error(String(answer.status))
  return answer.json()
}

function fill(sample: Element, own: ReadonlyMap<string, string | null>): void {
  const text = sample.textContent ?? ''
  const filled = [...own].reduce(
    (one, [name, value]) => (value === null ? one : one.replaceAll(name, value)),
    text,
  )
  if (filled !== text) sample.textContent = filled
}
