import { useEffect, useState } from 'preact/hooks'
import {
  ReceiptError,
  type ReceiptKey,
  type SignedReceipt,
  type TipReceipt,
  verifyReceipt,
} from '../../sdk/client/verify-receipt.js'
import { words } from '../i18n/verify.js'
import { Field, Form } from '../ui/fields.js'
import { Button, Fact, Notice } from '../ui/kit.js'

type Result = { readonly receipt: TipReceipt } | { readonly refused: string } | keyof typeof words.faults

async function check(text: string, keys: readonly ReceiptKey[]): Promise<Result> {
  let signed: SignedReceipt
  try {
    signed = JSON.parse(text)
  } catch {
    return 'not-json'
  }
  try {
    return { receipt: await verifyReceipt(signed, keys) }
  } catch (error) {
    if (error instanceof ReceiptError) return { refused: error.message }
    // WebCrypto without Ed25519.
    return 'unsupported'
  }
}

/** `token`: of a status link, whose receipt the page reads by itself. The keys came with the page. */
export function Verify({ keys, token }: { readonly keys: readonly ReceiptKey[]; readonly token: string }) {
  const [text, setText] = useState('')
  const [result, setResult] = useState<Result>()
  useEffect(() => {
    if (!/^[\w-]+$/.test(token)) return
    const read = async (): Promise<void> => {
      const answer = await fetch(`/t/${token}.json`)
      if (!answer.ok) return setResult('unavailable')
      const { receipt, signature, keyId } = await answer.json()
      const pasted = JSON.stringify({ receipt, signature, keyId }, undefined, 2)
      setText(pasted)
      setResult(await check(pasted, keys))
    }
    read().catch(() => setResult('unavailable'))
  }, [keys, token])
  return (
    <main>
      <h1>{words.title}</h1>
      <p>{words.more}</p>
      <Form noValidate onSubmit={() => check(text, keys).then(setResult)}>
        <Field label={words.field}>
          <textarea
            class="input"
            rows={8}
            spellcheck={false}
            value={text}
            onInput={({ currentTarget }) => {
              setText(currentTarget.value)
              setResult(undefined)
            }}
          />
        </Field>
        <Button kind="primary" type="submit" text={words.check} />
      </Form>
      <div role="status">{result !== undefined && <Outcome result={result} />}</div>
    </main>
  )
}

function Outcome({ result }: { readonly result: Result }) {
  if (typeof result === 'string') return <Notice tone="warn" text={words.faults[result]} />
  if ('refused' in result)
    return <Notice tone="bad" title={words.refused} text={words.refusedMore(result.refused)} />
  const { receipt } = result
  const { facts } = words
  const moment = (iso: string): string =>
    new Date(iso).toLocaleString('en-GB', { dateStyle: 'long', timeStyle: 'short' })
  return (
    <section class="stack">
      <Notice tone="good" icon="tick" title={words.genuine} text={words.genuineMore(receipt.issuer)} />
      {receipt.mode === 'test' && <Notice tone="warn" text={words.test} />}
      <dl class="facts">
        <Fact name={facts.status}>{words.status[receipt.status]}</Fact>
        <Fact name={facts.amount}>{`${receipt.amount} ${receipt.currency}`}</Fact>
        {receipt.refunded !== '0' && (
          <Fact name={facts.refunded}>{`${receipt.refunded} ${receipt.currency}`}</Fact>
        )}
        <Fact name={facts.received}>{`${receipt.received} ${receipt.receivedCurrency}`}</Fact>
        <Fact name={facts.creator}>
          <bdi>{receipt.creator.name ?? receipt.chain?.wallet}</bdi>
        </Fact>
        <Fact name={facts.paidAt}>{moment(receipt.paidAt)}</Fact>
        {receipt.reference !== null && (
          <Fact name={facts.reference}>
            <bdi>{receipt.reference}</bdi>
          </Fact>
        )}
        <Fact name={facts.tip}>{receipt.tipId}</Fact>
        <Fact name={facts.signedAt}>{moment(receipt.signedAt)}</Fact>
      </dl>
      <p class="quiet">{words.newest}</p>
    </section>
  )
}
