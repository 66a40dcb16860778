import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { Ajv2020, type AnySchema } from 'ajv/dist/2020.js'
import test from 'ava'
import ts from 'typescript'
import { bodyFields, exampleOf, noteOf, parameterFields } from '../../src/manual/fields.js'
import { callsOf, type OpenApi } from '../../src/manual/read-openapi.js'
import { type OpenApi as Checked, createAnswerCheck } from '../helpers/http/check-answer.js'
import { readDocument } from '../helpers/http/openapi-document.js'
import { requestRaw } from '../helpers/http/raw-request.js'
import { useWorld } from '../helpers/servers/world.js'
import { fencesOf } from './fences.js'

/** A test deployment has every call. */
const world = useWorld(test, { env: { MODE: 'test' } })
const run = promisify(execFile)
const ajv = new Ajv2020({ validateFormats: false, strictTypes: false })

const document = async () => (await readDocument(world().request)) as unknown as OpenApi
const markdown = async () => (await requestRaw(world().url, 'GET', '/docs.md')).text

test('every sample request matches the schema of its call', async (t) => {
  for (const call of callsOf(await document())) {
    if (call.body !== undefined) {
      const body = exampleOf(call, '>', call.body)
      const valid = ajv.validate(call.body as AnySchema, body)
      t.true(valid, `${call.key}: ${ajv.errorsText()} ${JSON.stringify(body)}`)
    }
    for (const { name, schema, in: place } of call.operation.parameters ?? []) {
      const { example } = noteOf({ call, direction: '>', name })
      t.not(example, undefined, `${call.key} ${place} ${name}`)
      t.true(ajv.validate(schema as AnySchema, example), `${call.key} ${name}: ${ajv.errorsText()}`)
    }
  }
})

test('every sample answer matches the schema of its call', async (t) => {
  const whole = await document()
  const check = createAnswerCheck(whole as unknown as Checked)
  for (const call of callsOf(whole)) {
    const variants = call.answer.schema.anyOf ?? [call.answer.schema]
    for (const variant of variants) {
      const body = exampleOf(call, '<', variant)
      t.notThrows(() => check(call.method, call.path, 200, body, call.answer.type))
    }
  }
})

test('every field has a rule', async (t) => {
  for (const call of callsOf(await document())) {
    const asked = call.body === undefined ? [] : bodyFields(call, '>', call.body)
    const fields = [
      ...parameterFields(call, call.operation.parameters ?? []),
      ...asked,
      ...bodyFields(call, '<', call.answer.schema),
    ]
    // The fields of an object describe it.
    for (const { name, type, rule } of fields)
      if (!/object/.test(type)) t.not(rule, '', `${call.key} ${name}`)
  }
})

test('every shell sample has valid syntax', async (t) => {
  const lines = fencesOf(await markdown(), 'sh')
  t.true(lines.length > 40)
  await t.notThrowsAsync(run('bash', ['-n', '-c', lines.join('\n')]))
})

test('every TypeScript sample compiles, also against the types of the client', async (t) => {
  const samples = fencesOf(await markdown(), 'ts')
  t.true(samples.length > 40)
  const names = [...new Set(samples)].map((sample, index) => [`/samples/${index}.mts`, sample] as const)
  const faults = check(
    new Map(names.map(([name, sample]) => [name, `${given(sample)}\n${sample}\nexport {}\n`])),
  )
  t.deepEqual(faults, [])
})

/** Names that samples use without declaring them. */
const predeclared: Readonly<Record<string, string>> = {
  creatorId: 'string',
  apiKey: 'string',
  sessionToken: 'string',
  intentId: 'string',
  inputTokenMint: 'string',
  sourceWalletAddress: 'string',
  txSignature: 'string',
  creatorWallet: 'string',
  senderWallet: 'string',
  originUrl: 'string',
  statusUrl: 'string',
  rpcUrl: 'string',
  frame: 'HTMLIFrameElement',
  store:
    '{ lastTimestamp(): Promise<string>; inTransaction(work: (tx: Tx) => Promise<void>): Promise<void> }; type Tx = { isNew(id: string): Promise<boolean>; deliver(event: unknown): Promise<void>; setLastTimestamp(at: string): Promise<void> }',
  wallet: 'any',
  intent: '{ transaction: string; intentId: string; status: string }',
  backend: "import('tipping-client').BackendClient",
  deliver: '(event: unknown) => Promise<void>',
  thank: '(whom: unknown) => Promise<void>',
  show: '(tip: unknown) => void',
  again: '() => Promise<void>',
  report: '(code: string, details: unknown, requestId: string | undefined) => void',
}
const changing: Readonly<Record<string, string>> = {
  since: 'string',
  lastEventId: 'string',
  after: 'number',
}

function given(sample: string): string {
  const free = (name: string): boolean =>
    new RegExp(`\\b${name}\\b`).test(sample) &&
    !new RegExp(`(const|let) (\\{[^}]*)?\\b${name}\\b`).test(sample)
  const constants = Object.entries(predeclared).filter(([name]) => free(name))
  const variables = Object.entries(changing).filter(([name]) => free(name))
  return [
    ...constants.map(([name, type]) => `declare const ${name}: ${type}`),
    ...variables.map(([name, type]) => `declare let ${name}: ${type}`),
  ].join('\n')
}

function check(sources: ReadonlyMap<string, string>): string[] {
  const options: ts.CompilerOptions = {
    target: ts.ScriptTarget.ES2023,
    lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts', 'lib.dom.asynciterable.d.ts'],
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    moduleDetection: ts.ModuleDetectionKind.Force,
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
  }
  const host = ts.createCompilerHost(options)
  const { readFile, fileExists } = host
  host.readFile = (name) => sources.get(name) ?? readFile(name)
  host.fileExists = (name) => sources.has(name) || fileExists(name)
  const client = `${process.cwd()}/src/sdk/client/index.ts`
  const here = `${process.cwd()}/package.json`
  host.resolveModuleNameLiterals = (literals, from) =>
    literals.map(({ text }) =>
      text === 'tipping-client'
        ? { resolvedModule: { resolvedFileName: client, extension: '.ts' } }
        : ts.resolveModuleName(
            text,
            from.startsWith('/samples/') ? here : from,
            options,
            host,
            undefined,
            undefined,
            ts.ModuleKind.ESNext,
          ),
    )
  const program = ts.createProgram([...sources.keys()], options, host)
  return [...sources.keys()].flatMap((name) => {
    const file = program.getSourceFile(name)
    return [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)].map(
      ({ messageText }) =>
        `${ts.flattenDiagnosticMessageText(messageText, ' ')} in ${JSON.stringify(sources.get(name))}`,
    )
  })
}
