import type { JSX } from 'preact'
import { words } from '../../i18n/checkout.js'
import { shortUsd } from '../../lib/money.js'
import { Button, LinkButton } from '../../ui/controls/button.js'
import { CopyButton } from '../../ui/controls/copy-button.js'
import { Icon } from '../../ui/icon.js'
import { Qr } from '../../ui/messages/qr.js'
import { inWalletApp } from '../frame/phone-links.js'
import { chosenCents } from '../machine/form.js'
import { Outcome } from './outcome.js'
import { Actions, Back, Heading, type ViewOf } from './step.js'
import { Working } from './working.js'

/** Continues on a phone: a QR code for its camera, and links for a tap. */
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
              <span class="quiet">{words.codeRenewed}</span>
              <CopyButton value={links.browser} label={words.link} named />
            </div>
          </Actions>
        </>
      )}
      <Back dispatch={dispatch} />
    </section>
  )
}

/** The browser blocked the window: shows a link instead. */
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
            <CopyButton value={step.link} label={words.link} named />
          </>
        )}
        <Back dispatch={dispatch} />
      </Actions>
    </Outcome>
  )
}

/** The tip continues in another window. */
export function OtherWindow({
  dispatch,
  onShow,
}: Pick<ViewOf<'other-window'>, 'dispatch'> & { readonly onShow: () => void }): JSX.Element {
  return (
    <Outcome tone="plain" icon="out" title={words.otherWindow} more={words.updatesItself}>
      <Actions>
        <Button kind="primary" onPress={onShow}>
          {words.showWindow}
        </Button>
        <Button onPress={() => dispatch({ type: 'start-over' })}>{words.payInThisWindow}</Button>
      </Actions>
    </Outcome>
  )
}
