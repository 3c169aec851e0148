import { type Config, ConfigError } from "@moorage/kernel/config";
import { examineMailServer, type MailFault, smtpOf, type SmtpSettings } from "@moorage/platform/mail";
import type { Check } from "./examine.ts";

const NAME = "mail";
const TIMEOUT_MS = 10_000;

const FIX: Readonly<Partial<Record<MailFault, string>>> = {
  name: "correct the host in MOORAGE_SMTP_URL, or add it to the name server",
  unreachable: "correct host and port in MOORAGE_SMTP_URL, and let this machine through to them",
  silent: "correct the port: 465 is for smtps://, 587 for smtp://; and let this machine through to it",
  untrusted:
    "465 is for smtps://, 587 for smtp://; name the authority of the certificate in MOORAGE_SMTP_TLS_CA, and the host as the certificate has it",
  signIn:
    "correct user and password in MOORAGE_SMTP_URL or MOORAGE_SMTP_PASSWORD_FILE; % and @ are percent-encoded in the URL",
  notReady: "see what the mail server says, and its log",
};

/** Whether the mail server of the settings can be reached, is trusted and accepts the sign-in. Empty without one. */
export async function examineMail(config: Config): Promise<Check[]> {
  let smtp: SmtpSettings | undefined;
  try {
    smtp = smtpOf(config);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [{ name: NAME, state: "failed", message: error.message, fix: "correct the setting" }];
  }
  if (smtp === undefined) return [];
  const place = `${smtp.host}:${smtp.port}`;
  const problem = await examineMailServer(smtp, TIMEOUT_MS);
  if (problem !== undefined) {
    const { fault, message, detail } = problem;
    const fix = FIX[fault];
    const said = detail === message ? "" : ` (${detail})`;
    return [{ name: NAME, state: "failed", message: `${place}: ${message}${said}`, ...(fix !== undefined && { fix }) }];
  }
  const how = { implicit: "over TLS", starttls: "over TLS by STARTTLS", none: "in the clear" }[smtp.tls];
  const who = smtp.login === undefined ? "without a sign-in" : "with the sign-in";
  return [{ name: NAME, state: "ok", message: `${place} answers ${how}, ${who}; no mail was sent` }];
}
