import { type ComponentChildren, createContext } from 'preact'
import { useCallback, useContext, useEffect, useRef, useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { Form } from '../../ui/fields.js'
import { Button, TextButton } from '../../ui/kit.js'
import { CodeField, factorFault } from '../parts/fields.js'
import { Dialog, Submit } from '../parts/forms.js'
import { type Proof, type ProofKind, type Protect, runProtected } from '../protect.js'
import { useDrawer } from '../route.js'
import { useSession } from '../session.js'
import { SignIn } from '../sign-in/sign-in.js'

const text = words.reauthentication

const ProtectContext = createContext<Protect | undefined>(undefined)

export function useProtect(): Protect {
  const protect = useContext(ProtectContext)
  if (protect === undefined) throw new Error('Nobody asks here')
  return protect
}

const drawerName = 'reauthentication'

interface Question {
  readonly kind: ProofKind
  readonly fault: string | undefined
  /** Without a proof the person gave up. */
  readonly answer: (proof: Proof | undefined) => void
}

export function Reauthentication({ children }: { readonly children: ComponentChildren }) {
  const drawer = useDrawer()
  const [question, setQuestion] = useState<Question>()
  const proof = useRef<Proof | undefined>(undefined)
  const { show } = drawer
  const showDialog = useRef(show)
  showDialog.current = show
  const ask = useCallback(
    (kind: ProofKind, fault: string | undefined) =>
      new Promise<Proof | undefined>((answer) => {
        proof.current = undefined
        setQuestion({ kind, fault, answer })
        showDialog.current(drawerName)
      }),
    [],
  )
  const protect = useCallback<Protect>(
    (action, kind = 'any') => runProtected(action, (fault) => ask(kind, fault)),
    [ask],
  )
  const open = drawer.open === drawerName
  useEffect(() => {
    if (open || question === undefined) return
    // The dialog's entry of the history is gone: what follows may close the entry before.
    setQuestion(undefined)
    question.answer(proof.current)
  }, [open, question])
  const onProof = (given: Proof): void => {
    proof.current = given
    drawer.close()
  }
  return (
    <ProtectContext.Provider value={protect}>
      {children}
      {open && question !== undefined && (
        <AskAgain kind={question.kind} fault={question.fault} onProof={onProof} onClose={drawer.close} />
      )}
    </ProtectContext.Provider>
  )
}

interface AskAgainProps {
  kind: ProofKind
  fault: string | undefined
  onProof: (proof: Proof) => void
  onClose: () => void
}

function AskAgain({ kind, fault, onProof, onClose }: AskAgainProps) {
  const { me, security, onSignedIn } = useSession()
  const hasApp = kind === 'any' && security?.totp === true
  const [byApp, setByApp] = useState(hasApp)
  return (
    <Dialog title={text.title} onClose={onClose}>
      <p>{kind === 'any' ? text.why : text.whySignIn}</p>
      {byApp ? (
        <AppCode fault={fault} onProof={onProof} />
      ) : (
        <SignIn
          email={me.email}
          onSignedIn={() => {
            onSignedIn()
            onProof({})
          }}
        />
      )}
      {hasApp && <TextButton text={byApp ? text.signIn : text.useApp} onPress={() => setByApp(!byApp)} />}
      <Button text={words.cancel} onPress={onClose} />
    </Dialog>
  )
}

function AppCode({ fault, onProof }: { fault: string | undefined; onProof: (proof: Proof) => void }) {
  const [totp, setTotp] = useState('')
  const submit = (): void => onProof({ totp })
  return (
    <Form onSubmit={submit}>
      <CodeField
        label={words.factor.code}
        value={totp}
        fault={totp === '' && fault ? factorFault(fault) : undefined}
        onInput={setTotp}
        onComplete={submit}
      />
      <Submit text={text.submit} />
    </Form>
  )
}
