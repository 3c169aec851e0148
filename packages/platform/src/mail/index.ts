// Mail that the server sends: an outbox, and what sends it by SMTP.
export { examineMailServer } from "./examine.ts";
export { mailArea } from "./area.ts";
export { cancelMails, enqueueMail, mailsAbout, requireMailable, type ShownMail } from "./outbox.ts";
export { startMails } from "./runner.ts";
export type { MailFault } from "./smtp.ts";
export { type SmtpSettings, smtpOf } from "./settings.ts";
export { mailTime, type MailText, quotable } from "./text.ts";
