import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { words } from '../../i18n/checkout.js'
import { shortUsd } from '../../lib/money.js'
import { Button, LinkButton } from '../../ui/button.js'
import { CopyButton } from '../../ui/copy-button.js'
import { Icon } from '../../ui/icon.js'
import { inWalletApp } from '../frame/phone-links.js'
import { chosenCents } from '../machine/form.js'
import { Outcome } from './outcome.js'
import { Working } from './slow.js'
import { Actions, Back, Heading, type ViewOf } from './step.js'

/** B4: a phone, by its camera or by a tap. */
export function Phone({ state, step, dispatch }: ViewOf<'phone'>): JSX.Element {
  const { links } = step
  const amount = shortUsd((chosenCents(state) ?? 0) / 100)
  return (
    <section class="stack">
      <Heading>{words.phone}</Heading>
      {links === undefined ? (
        <Working text={words.stillWorking} />
      ) : (
        <>
          <p class="quiet">{words.phoneMore}</p>
          <Qr text={links.request ?? links.browser} label={words.scan(amount)} />
          <Actions>
            <LinkButton kind="primary" href={inWalletApp('phantom', links.browser)}>
              {words.openPhantom}
            </LinkButton>
            <LinkButton href={inWalletApp('solflare', links.browser)}>{words.openSolflare}</LinkButton>
            <div class="row">
              <span class="quiet">{words.fresh}</span>
              <CopyButton value={links.browser} label={words.theLink} named />
            </div>
          </Actions>
        </>
      )}
      <Back dispatch={dispatch} />
    </section>
  )
}

/** Dark on light in both themes, four modules of quiet around it: what cameras read. Its code comes when it is wanted. */
function Qr({ text, label }: { readonly text: string; readonly label: string }): JSX.Element {
  const canvas = useRef<HTMLCanvasElement>(null)
  useEffect(() => {
    let wanted = true
    void import('lean-qr').then(({ generate }) => {
      if (wanted && canvas.current !== null)
        generate(text).toCanvas(canvas.current, { on: [0, 0, 0], off: [255, 255, 255], pad: 4 })
    })
    return () => {
      wanted = false
    }
  }, [text])
  return (
    <figure class="qr">
      <canvas ref={canvas} role="img" aria-label={label} />
      <figcaption>{label}</figcaption>
    </figure>
  )
}

/** B5: the browser opened no window, a link does. */
export function Blocked({ step, dispatch }: ViewOf<'blocked'>): JSX.Element {
  return (
    <Outcome tone="warn" icon="warn" title={words.blocked} more={words.blockedMore} urgent>
      <Actions>
        {step.link === undefined ? (
          <Working text={words.stillWorking} />
        ) : (
          <>
            <LinkButton kind="primary" href={step.link} newTab>
              {words.openCheckout} <Icon name="out" />
            </LinkButton>
            <CopyButton value={step.link} label={words.theLink} named />
          </>
        )}
        <Back dispatch={dispatch} />
      </Actions>
    </Outcome>
  )
}

/** B6: the tip goes on in another window. */
export function Elsewhere({
  dispatch,
  onShow,
}: Pick<ViewOf<'elsewhere'>, 'dispatch'> & { readonly onShow: () => void }): JSX.Element {
  return (
    <Outcome tone="plain" icon="out" title={words.elsewhere} more={words.updatesItself}>
      <Actions>
        <Button kind="primary" onPress={onShow}>
          {words.showWindow}
        </Button>
        <Button onPress={() => dispatch({ type: 'start-over' })}>{words.payHere}</Button>
      </Actions>
    </Outcome>
  )
}
