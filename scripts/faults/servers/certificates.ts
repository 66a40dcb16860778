import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Refusal } from '../../bootstrap/progress.mjs'

/** A CA of its own, and the certificate of a server on this machine. */
export interface Certificates {
  readonly ca: string
  readonly caFile: string
  readonly certificateFile: string
  readonly keyFile: string
}

/** Makes a CA and a certificate for localhost, which nobody trusts who was not told. */
export function makeCertificates(folder: string): Certificates {
  const file = (name: string): string => join(folder, name)
  const [caFile, caKey] = [file('ca.pem'), file('ca.key')]
  const [certificateFile, keyFile, request, names] = ['server.pem', 'server.key', 'server.csr', 'names'].map(
    file,
  ) as [string, string, string, string]
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  writeFileSync(names, 'subjectAltName=DNS:localhost,IP:127.0.0.1\n')
  openssl(
    'req',
    '-x509',
    ...newKey,
    '-keyout',
    caKey,
    '-out',
    caFile,
    '-days',
    '2',
    '-subj',
    '/CN=CA of this run',
  )
  openssl('req', ...newKey, '-keyout', keyFile, '-out', request, '-subj', '/CN=localhost')
  openssl(
    ...['x509', '-req', '-in', request, '-CA', caFile, '-CAkey', caKey, '-CAcreateserial'],
    ...['-out', certificateFile, '-days', '2', '-extfile', names],
  )
  return { ca: readFileSync(caFile, 'utf8'), caFile, certificateFile, keyFile }
}

function openssl(...args: readonly string[]): void {
  try {
    execFileSync('openssl', args, { stdio: 'pipe' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    throw new Refusal('openssl is missing: apt-get install openssl')
  }
}
