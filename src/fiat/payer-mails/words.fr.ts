import type { PayerMailWords } from './words.en.js'

/** French. No native speaker has read it yet. */
export const words: PayerMailWords = {
  seePayment: 'Voir ce paiement',
  statusPage:
    'Cette page dit à tout moment où en est votre paiement, et contient un reçu signé une fois qu’il est payé :',
  number: (id) => `Le numéro de ce paiement est ${id}.`,
  noMistake:
    'Si ce n’est pas vous qui avez payé, quelqu’un a saisi votre adresse par erreur ; vous n’avez rien à faire.',
  receipt: {
    subject: (given) => `Votre pourboire de ${given}`,
    lead: (name) => `Merci. Votre paiement pour un pourboire à « ${name} » est arrivé :`,
    surplus: (paid, given, rest) =>
      `Vous avez payé ${paid}, et le montant demandé était de ${given}. Le pourboire est de ${given} ; les ${rest} restants vous attendent. Répondez à cet e-mail pour les récupérer, ou pour les donner aussi au créateur.`,
    paid: 'Payé le',
    message: 'Votre message',
    reference: 'Référence',
    number: 'Numéro de ce paiement',
  },
  short: {
    subject: (arrived) => `Votre paiement de ${arrived} est inférieur au pourboire`,
    lead: (name, asked, at) =>
      `Le montant demandé pour un pourboire à « ${name} » était de ${asked}. Le ${at}, ceci est arrivé :`,
    more: 'Le pourboire n’est pas complet, et votre argent n’est pas perdu. Sur la page ci-dessous, vous pouvez le laisser tel quel au créateur, ou vous le faire renvoyer. Le créateur peut décider aussi, et la première décision compte. Vous pouvez aussi faire un nouveau pourboire payé en entier.',
  },
  refund: {
    subject: (back) => `${back} de votre pourboire vous reviennent`,
    lead: (name, at) =>
      `Vous avez donné un pourboire à « ${name} » le ${at}. Voici ce qui vous en est rendu :`,
    more: 'L’argent va à la carte ou au compte bancaire avec lequel vous avez payé. Les banques mettent quelques jours à l’afficher. Si vous ne le voyez pas après dix jours ouvrables, répondez à cet e-mail.',
  },
  disputeOpened: {
    subject: (amount) => `Votre banque pose une question sur votre paiement de ${amount}`,
    lead: (name) => `Votre banque nous a dit que le paiement de votre pourboire à « ${name} » est contesté :`,
    more: 'La banque décide, en général en quelques jours. Si vous reconnaissez finalement le paiement, dites-le à votre banque.',
  },
  disputeWon: {
    subject: (amount) => `Votre paiement de ${amount} est maintenu`,
    lead: (name) =>
      `La contestation du paiement de votre pourboire à « ${name} » est terminée. Le paiement est maintenu :`,
  },
  returned: {
    subject: (amount) => `Votre paiement de ${amount} vous est rendu`,
    lead: (name) =>
      `Le paiement de votre pourboire à « ${name} » vous est rendu, sur le compte ou la carte d’où il venait :`,
    more: 'Les banques mettent quelques jours à l’afficher.',
  },
}
