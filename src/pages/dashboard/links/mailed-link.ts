/** What a mailed link is for; `#sign-in=` belongs to the sign-in page. */
export type LinkKind =
  | 'reset-password'
  | 'confirm-email'
  | 'undo-email'
  | 'not-me'
  | 'export'
  | 'confirm-withdrawal'

export interface MailedLink {
  readonly kind: LinkKind
  readonly token: string
}

/** The endpoint of each kind. It takes the token, and the new password of a reset. */
export const linkPaths: Readonly<Record<LinkKind, string>> = {
  'reset-password': '/auth/password/reset/confirm',
  'confirm-email': '/auth/email/confirm',
  'undo-email': '/auth/email/undo',
  'not-me': '/auth/not-me',
  export: '/auth/export/download',
  'confirm-withdrawal': '/auth/withdrawals/confirm',
}

export function mailedLink(fragment: string): MailedLink | undefined {
  const found = /^#([a-z-]+)=([\w-]+)$/.exec(fragment)
  const [, kind = '', token = ''] = found ?? []
  return isKind(kind) ? { kind, token } : undefined
}

function isKind(kind: string): kind is LinkKind {
  return Object.hasOwn(linkPaths, kind)
}

export function endsSessions(kind: LinkKind): boolean {
  return kind !== 'confirm-email' && kind !== 'export' && kind !== 'confirm-withdrawal'
}
