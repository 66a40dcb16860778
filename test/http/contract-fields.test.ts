import { readFileSync } from 'node:fs'
import test from 'ava'
import { readDocument } from '../helpers/http/openapi-document.js'
import { useWorld } from '../helpers/servers/world.js'

const world = useWorld(test)

const user =
  'user.id user.email user.name user.full_name user.first_name user.roles user.walletAddress user.walletPublicKey user.emailVerifiedAt user.onboardingComplete user.onboarding_complete user.solDomain user.twitterHandle user.discordHandle'
const auth = 'auth.accessToken auth.tokenType auth.expiresAt'
const tip = 'amount tokenSymbol sender message timestamp'

/** The fields that the contract gives each of its answers. */
const contract: Readonly<Record<string, string>> = {
  'POST /auth/register': `success ${user} ${auth}`,
  'POST /auth/login': `success ${user} ${auth}`,
  'GET /auth/me': `success ${user}`,
  'POST /auth/otp/start': 'success',
  'POST /auth/otp/verify': `success ${user} ${auth}`,
  'POST /sdk/init':
    'success sessionToken config.creatorId config.creatorAddress config.acceptedTokens config.embedUrl',
  'POST /sdk/tip': 'success intentId status',
  'GET /sdk/events':
    'success events[].eventId events[].type events[].amountUsdc events[].amountRaw events[].tokenSymbol events[].sender events[].timestamp events[].txSignature',
  'POST /payments/intent':
    'success intentId status transaction quote executionMode provider lastValidBlockHeight settings',
  'POST /chain/tips/create': 'success tip.id tip.status tip.recipientId tip.amount tip.tokenSymbol message',
  'GET /chain/tips':
    'success tips[].signature tips[].recipient tips[].recipient_id tips[].sender tips[].sender_id tips[].amount tips[].tokenSymbol tips[].message tips[].timestamp tips[].status tips[].valueUsd tips[].isStable tips[].fiatDetails',
  'GET /chain/tips/stream': `status wallet type ${tip}`,
  'POST /payments/fiat/intent': 'success intentId status checkoutUrl paymentInstructions',
  'GET /payments/fiat/status': 'success intentId status completedAt',
  'POST /payouts/withdraw': 'success provider reference status amountNGN systemFeeNGN amountUSDC currency',
}

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
}

/** Every field, with those inside it: `events[].sender`. */
function fieldsOf(schema: Schema, name = ''): string[] {
  const { properties = {}, items, anyOf = [] } = schema
  const inside = [
    ...anyOf.flatMap((one) => fieldsOf(one, name)),
    ...(items === undefined ? [] : fieldsOf(items, `${name}[]`)),
    ...Object.entries(properties).flatMap(([key, one]) =>
      fieldsOf(one, name === '' ? key : `${name}.${key}`),
    ),
  ]
  return name === '' ? inside : [name, ...inside]
}

/** The rows of the table in docs/integrating.md, by call. */
function listed(): Map<string, string[]> {
  const rows = new Map<string, string[]>()
  const [, section = ''] = readFileSync('docs/integrating.md', 'utf8').split(
    '## Fields beyond the contract\n',
  )
  let calls: string[] = []
  for (const [, first = '', fields = '', reason = ''] of section.matchAll(
    /^\| (.*?) ?\| (.*?) \| (.*?) \|$/gm,
  )) {
    const named = [...first.matchAll(/`([A-Z]+ [^`]+)`/g)].map(([, call = '']) => call)
    if (named.length > 0) calls = named
    const names = [...fields.matchAll(/`([^`]+)`/g)].map(([, field = '']) => field)
    if (named.length === 0 && first !== '') continue
    if (reason === '') throw new Error(`${fields}: no reason`)
    for (const call of calls) rows.set(call, [...(rows.get(call) ?? []), ...names])
  }
  return rows
}

test('what answers say beyond the contract is in the table of docs/integrating.md, with a reason', async (t) => {
  const { paths } = await readDocument(world().request)
  const rows = listed()
  for (const [call, text] of Object.entries(contract)) {
    const [method = '', path = ''] = call.split(' ')
    const answers = paths[path]?.[method.toLowerCase()]?.responses['200']?.content ?? {}
    const given = Object.values(answers).flatMap((one) => {
      const { schema, itemSchema } = one as unknown as { schema?: Schema; itemSchema?: Schema }
      return fieldsOf(schema ?? itemSchema ?? {})
    })
    const named = text.split(' ')
    const isKnown = (field: string): boolean =>
      named.some((one) => field === one || field.startsWith(`${one}.`) || field.startsWith(`${one}[`)) ||
      named.some((one) => one.startsWith(`${field}.`) || one.startsWith(`${field}[`))
    const beyond = given.filter((field) => !isKnown(field)).map((field) => field.replace(/^\w+\[\]\./, ''))
    const first = beyond.filter((field) => !field.includes('.'))
    t.deepEqual([...new Set(first)].toSorted(), (rows.get(call) ?? []).toSorted(), call)
    t.true(given.length > 0, call)
  }
})
