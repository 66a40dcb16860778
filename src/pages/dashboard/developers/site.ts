const host = /^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/
const form = /^(\*\.)?([^:/?#@*\s]+?)\.?(?::(\d{1,5}))?$/

/** `example.com`, `*.example.com` or `example.com:8443` of typed text or a pasted URL. Undefined when it is no site. */
export function parseTypedSite(text: string): string | undefined {
  const bare = text
    .trim()
    .toLowerCase()
    .replace(/^https?:\/\//, '')
    .replace(/\/.*$/, '')
  const [, wildcard = '', name = '', port] = form.exec(bare) ?? []
  const ascii = /^[ -~]+$/.test(name) ? name : punycode(name)
  if (ascii === undefined || !host.test(ascii) || ascii.length > 253) return undefined
  if (wildcard !== '' && !ascii.includes('.')) return undefined
  if (port !== undefined && (Number(port) < 1 || Number(port) > 65_535)) return undefined
  return `${wildcard}${ascii}${port === undefined ? '' : `:${Number(port)}`}`
}

function punycode(name: string): string | undefined {
  return URL.canParse(`http://${name}`) ? new URL(`http://${name}`).hostname : undefined
}
