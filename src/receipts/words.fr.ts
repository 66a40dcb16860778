import type { Said, StatusWords } from './words.en.js'

const once = 'Ne payez pas une deuxième fois.'
const paid = {
  title: 'Payé. Merci !',
  lead: ({ name, amount }: Said) => `${name} a bien reçu votre pourboire de ${amount}.`,
}
const wentBack = ({ back }: Said): string =>
  `${back} ont été rendus à la carte ou au compte qui a payé. Les banques mettent quelques jours à l’afficher.`
const comesBack = ({ back }: Said): string =>
  `${back} sont en route vers la carte ou le compte qui a payé. Les banques mettent quelques jours à l’afficher.`
const partly = 'Une partie de votre pourboire a été rendue'
const unseen = [
  'Si vous ne voyez pas l’argent après dix jours ouvrables, écrivez à l’adresse ci-dessous.',
] as const

/** French. No native speaker has read it yet. */
export const words: StatusWords = {
  theCreator: 'Le créateur',
  naira: {
    waiting: {
      title: ({ amount }) => `En attente de ${amount}`,
      lead: ({ until }) => `Rien n’est encore arrivé. Vous pouvez payer jusqu’au ${until}.`,
      more: [`Déjà payé ? Cela peut prendre quelques minutes. ${once}`],
    },
    seen: {
      title: 'Votre paiement a été envoyé',
      lead: 'Le réseau est en train de décider. Cela prend en général quelques secondes.',
      more: [once],
    },
    late: {
      title: 'Le délai pour payer est passé',
      lead: ({ amount }) => `Les ${amount} ne sont pas arrivés.`,
      more: [
        ({ watchDays }) =>
          `Déjà payé ? Alors attendez : nous cherchons votre paiement pendant ${watchDays} jours, et il comptera à son arrivée. ${once}`,
        'Pas encore payé ? N’utilisez plus ce numéro de compte. Retournez à la page et recommencez.',
      ],
    },
    underpaid: {
      title: ({ arrived }) => `Il n’est arrivé que ${arrived}`,
      lead: ({ amount, name }) =>
        `Le montant demandé était de ${amount}. Votre argent n’est pas perdu. Décidez de ce qu’il devient, ou attendez : ${name} peut décider aussi.`,
      more: [
        ({ name }) =>
          `Pour payer le reste, laissez cette partie à ${name}, puis revenez à la page et donnez le reste.`,
      ],
    },
    failed: {
      title: 'Ce paiement n’a pas pu être terminé',
      lead: 'Aucun argent n’est arrivé.',
      more: [
        'Si votre banque montre un débit, demandez d’abord à votre banque : en général, l’argent revient de lui-même. Écrivez ensuite à l’adresse ci-dessous, avec le numéro de ce paiement.',
      ],
    },
    paid,
    overpaid: {
      ...paid,
      more: [
        ({ surplus }) =>
          `Vous avez payé ${surplus} de plus que demandé. Cette somme vous attend : écrivez à l’adresse ci-dessous pour la récupérer, ou pour la donner aussi au créateur.`,
      ],
    },
    disputed: {
      title: 'Votre banque pose une question sur ce paiement',
      lead: ({ amount }) =>
        `Le pourboire de ${amount} a été payé, et quelqu’un a dit à la banque vouloir récupérer l’argent. La banque décide, en général en quelques jours.`,
      more: ['Si vous reconnaissez finalement le paiement, dites-le à votre banque.'],
    },
    'partly-refunding': { title: partly, lead: comesBack },
    'partly-refunded': { title: partly, lead: wentBack },
    refunding: { title: 'Votre argent est en route vers vous', lead: comesBack, more: unseen },
    refunded: { title: 'Votre argent vous a été rendu', lead: wentBack, more: unseen },
  },
  crypto: {
    waiting: {
      title: ({ amount }) => `En attente de ${amount}`,
      lead: 'Rien n’a encore été payé : acceptez dans votre portefeuille.',
      more: ['Le prix tient environ une minute. Ensuite, retournez à la page et recommencez.'],
    },
    late: {
      title: 'Aucun paiement n’a été vu à temps',
      lead: 'Regardez dans votre portefeuille avant de payer de nouveau.',
      more: [
        'Si votre portefeuille le montre comme envoyé, attendez quelques minutes : nous le trouvons sur la chaîne. Sinon, retournez à la page et recommencez.',
      ],
    },
    underpaid: {
      title: 'Il est arrivé moins que demandé',
      lead: ({ name, received = 'moins' }) =>
        `${name} a reçu ${received} et garde cette somme, comme un pourboire plus petit.`,
      more: [({ name }) => `Ne payez pas le reste ici. Pour toute autre question, contactez ${name}.`],
    },
    failed: {
      title: 'Ce paiement n’a pas abouti',
      lead: 'Il n’est pas arrivé au créateur comme demandé.',
      more: [
        'Votre portefeuille montre ce qu’il est devenu. Pour donner un pourboire, retournez à la page et recommencez.',
      ],
    },
  },
  facts: {
    to: 'Pour',
    paid: 'Payé',
    askedFor: 'Demandé',
    received: 'Le créateur a reçu',
    afterFee: (received) => `${received}, après nos frais`,
    givenBack: 'Rendu',
    when: 'Date',
    bank: 'Banque',
    accountNumber: 'Numéro de compte',
    accountName: 'Nom du compte',
    message: 'Votre message',
    reference: 'Référence',
    number: 'Numéro',
    transaction: 'Transaction',
  },
  decide: { accept: 'Le laisser comme pourboire plus petit', 'give-back': 'Me le renvoyer' },
  undecided: {
    title: 'Cela ne peut pas être décidé maintenant',
    lead: 'Rien n’a changé, et votre argent n’est pas perdu. Réessayez plus tard, ou écrivez à l’adresse ci-dessous avec le numéro de ce paiement.',
  },
  payNow: 'Payer maintenant',
  checkReceipt: 'Vérifier le reçu',
  signedReceipt: 'Reçu signé (JSON)',
  reply: 'Des questions ? Répondez à l’e-mail sur ce paiement.',
  writeTo: (contact) => `Des questions ? Écrivez à ${contact}.`,
  keepIt: 'Quiconque a l’adresse de cette page peut la voir : gardez-la pour vous.',
  missing: {
    title: 'Il n’y a pas de paiement à cette adresse',
    lead: 'Il manque peut-être une partie de l’adresse. Copiez-la en entier depuis votre reçu ou depuis la page où vous avez payé.',
  },
}
