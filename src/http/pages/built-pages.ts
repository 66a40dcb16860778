import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Context, Middleware } from 'koa'
import type { Language } from '../../kernel/languages.js'

/** A built file with its compressed forms. */
interface Asset {
  readonly type: string
  readonly identity: Buffer
  readonly gzip: Buffer | undefined
  readonly br: Buffer | undefined
}

/** The URL paths of the files of one page. */
interface PageFiles {
  readonly script: string
  readonly preloads: readonly string[]
  readonly styles: readonly string[]
}

/** The built pages, kept in memory. */
export interface Pages {
  /** The files of the page built from src/pages/<name>/main.tsx, with those of its texts. Throws for an unknown name. */
  files(name: string, language?: Language): PageFiles
  readonly assets: ReadonlyMap<string, Asset>
  /** The script that other sites embed. */
  readonly embedScript: Asset
}

interface ManifestEntry {
  readonly file: string
  readonly css?: readonly string[]
  readonly imports?: readonly string[]
}

const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.mp3': 'audio/mpeg',
  '.wav': 'audio/wav',
}
const builtPages = fileURLToPath(new URL('../../../pages', import.meta.url))

/** Loads the files that `npm run build` made from src/pages. Throws when they are missing. */
export function loadPages(folder = builtPages): Pages {
  if (!existsSync(`${folder}/manifest.json`))
    throw new Error('The pages are not built: run `node src/pages/build.mjs` (npm run build does it too)')
  const manifest: Record<string, ManifestEntry> = JSON.parse(readFileSync(`${folder}/manifest.json`, 'utf8'))
  const names = readdirSync(`${folder}/assets`).filter((name) => types[extname(name)] !== undefined)
  return {
    files(name, language) {
      const entry = manifest[`${name}/main.tsx`]
      if (entry === undefined) throw new Error(`There is no page called ${name}`)
      const parts = [entry, ...importsOf(manifest, entry)]
      const texts = manifest[`i18n/${name}.${language}.ts`]
      return {
        script: `/${entry.file}`,
        preloads: [...parts.slice(1), ...(texts ? [texts] : [])].map(({ file }) => `/${file}`),
        // Shared style sheets come first, so that a page's own rules override them.
        styles: [...new Set(parts.toReversed().flatMap(({ css = [] }) => css.map((file) => `/${file}`)))],
      }
    },
    assets: new Map(names.map((name) => [name, readAsset(`${folder}/assets/${name}`)])),
    embedScript: readAsset(`${folder}/embed.js`),
  }
}

function importsOf(
  manifest: Record<string, ManifestEntry>,
  { imports = [] }: ManifestEntry,
): ManifestEntry[] {
  const found = imports.flatMap((key) => {
    const entry = manifest[key]
    return entry === undefined ? [] : [entry, ...importsOf(manifest, entry)]
  })
  return [...new Set(found)]
}

function readAsset(file: string): Asset {
  const compressed = (suffix: string): Buffer | undefined =>
    existsSync(`${file}.${suffix}`) ? readFileSync(`${file}.${suffix}`) : undefined
  return {
    type: types[extname(file)] ?? 'application/octet-stream',
    identity: readFileSync(file),
    gzip: compressed('gz'),
    br: compressed('br'),
  }
}

/** `GET /assets/:name`. A file's name changes with its content, so browsers may cache it forever. */
export function serveAssets({ assets }: Pick<Pages, 'assets'>): Middleware {
  return async (ctx) => {
    const asset = assets.get(String(ctx['params'].name))
    if (asset === undefined) return
    ctx.set('Cache-Control', 'public, max-age=31536000, immutable')
    sendAsset(ctx, asset)
  }
}

/** `GET /embed.js`: a module for any site. Its name never changes, so browsers may cache it for five minutes only. */
export function serveEmbedScript({ embedScript }: Pick<Pages, 'embedScript'>): Middleware {
  return async (ctx) => {
    ctx.set('Cache-Control', 'public, max-age=300')
    ctx.set('Access-Control-Allow-Origin', '*')
    ctx.set('Cross-Origin-Resource-Policy', 'cross-origin')
    sendAsset(ctx, embedScript)
  }
}

/** Headers that mean something for documents only. A phone on a slow network waits for each byte of a page's files. */
const documentHeaders = [
  'Content-Security-Policy',
  'Origin-Agent-Cluster',
  'Permissions-Policy',
  'Referrer-Policy',
  'X-DNS-Prefetch-Control',
  'X-Download-Options',
  'X-Frame-Options',
  'X-Permitted-Cross-Domain-Policies',
  'X-XSS-Protection',
]

function sendAsset(ctx: Context, asset: Asset): void {
  for (const name of documentHeaders) ctx.remove(name)
  const encoding = ctx.acceptsEncodings(
    asset.br ? 'br' : 'identity',
    asset.gzip ? 'gzip' : 'identity',
    'identity',
  )
  const encoded = encoding === 'br' || encoding === 'gzip' ? asset[encoding] : undefined
  ctx.vary('Accept-Encoding')
  ctx.type = asset.type
  if (encoded !== undefined) ctx.set('Content-Encoding', String(encoding))
  ctx.body = encoded ?? asset.identity
}
