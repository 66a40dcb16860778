/** Texts of signing in, registering and a forgotten password. */
export const signInWords = {
  signIn: {
    title: 'Sign in',
    lead: 'To your tips, your balance and your keys.',
    email: 'E-mail',
    password: 'Password',
    show: 'Show password',
    hide: 'Hide password',
    submit: 'Sign in',
    mailCode: 'E-mail me a code',
    passkey: 'Use a passkey',
    forgot: 'Forgot your password?',
    withoutLink: 'Sign in another way',
    newLink: 'Ask for a new link',
    newLinkHow:
      'Enter your e-mail address on the next page and choose “E-mail me a code”: a new link or a code comes by e-mail.',
    other: 'New here?',
    otherWay: 'Make an account',
  },
  code: {
    sent: (email: string) => `We’ve sent six digits to ${email}. They work for ten minutes.`,
    sentAgain: (email: string) => `We’ve sent a new code to ${email}. The old one no longer works.`,
    linkMailed: (email: string) =>
      `We’ve sent a link to ${email}: open it to sign in. There is at most one link in 15 minutes.`,
    label: 'Code from the e-mail',
    submit: 'Sign in',
    again: 'Send a new code',
    otherWay: 'Use my password',
  },
  factor: {
    title: 'One more step',
    lead: 'Signing in to your account takes a second step: a code from your authenticator app, or a passkey.',
    code: 'Code from your authenticator app',
    recovery: 'Recovery code',
    recoveryHint: 'One of the ten that you stored. Each works once.',
    either: 'Code from your authenticator app, or a recovery code',
    useRecovery: 'Use a recovery code',
    useApp: 'Use my authenticator app',
    passkey: 'Use a passkey',
    countsToRemove: 'An app or passkey that is newer than this one counts once it is 72 hours old.',
    countsToRenew:
      'A recovery code, or your oldest app or passkey. Another one counts once it is 72 hours old.',
    notMine: 'I never set this up',
    notMineTitle: 'Did somebody else make this account?',
    notMineEffect:
      'If you have never confirmed this e-mail address here, start afresh: you’re signed in, and everything set up before stops working: the password, this second step, sessions and API keys.',
    notMineProven:
      'This e-mail address has been confirmed here before, so the second step counts. Use a recovery code, or write to us from your e-mail address.',
    notMineSubmit: 'Start afresh',
    submit: 'Go on',
  },
  forgot: {
    title: 'Set a new password',
    lead: 'We e-mail you a link, with which you choose a new one.',
    submit: 'E-mail me the link',
    sentTitle: 'Look into your e-mail',
    sent: (email: string) =>
      `If there is an account with ${email}, a link is on its way. It works for 30 minutes, once.`,
    notThere:
      'Nothing came? Look into the spam folder, check the address, or wait a few minutes and ask again.',
    back: 'Back to sign-in',
  },
  register: {
    title: 'Make an account',
    lead: 'Take tips in crypto and naira, and withdraw to a Nigerian bank.',
    name: 'Name',
    nameHint: 'Shown to the people who tip you.',
    passwordHint: 'At least 8 characters. A few random words are easy to keep.',
    commonTitle: 'Your account is made',
    common: 'Your password is one of the most common ones, which are tried first. Please choose another one.',
    chooseAnother: 'Choose another one',
    keep: 'Later',
    submit: 'Make my account',
    other: 'Have an account?',
    otherWay: 'Sign in',
  },
} as const
