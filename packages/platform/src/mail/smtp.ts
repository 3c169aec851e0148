import MailComposer from "nodemailer/lib/mail-composer";
import SMTPConnection from "nodemailer/lib/smtp-connection";
import type { SmtpSettings } from "./settings.ts";
import type { MailText } from "./text.ts";

/** What a mail failed by. `mail`: the mail server has not taken this one; `off`: there is no mail server. */
export type MailFault =
  | "name"
  | "unreachable"
  | "silent"
  | "untrusted"
  | "signIn"
  | "notReady"
  | "mail"
  | "interrupted"
  | "off";

/** Why the mail server did not take a mail. */
export class MailError extends Error {
  readonly fault: MailFault;
  /** Whether the same mail would never be taken. */
  readonly isFinal: boolean;
  /** For the log: what the server or the network said. */
  readonly detail: string;

  constructor(fault: MailFault, message: string, { isFinal = false, detail = message } = {}) {
    super(message);
    this.fault = fault;
    this.isFinal = isFinal;
    this.detail = detail;
  }
}

const STEP_TIMEOUT_MS = 20_000;
const MAX_RESPONSE_BYTES = 16_384;
const MAX_SAID_CHARS = 200;
const SILENT = "the mail server did not answer in time";

/** What of an error of the connection is looked at. */
interface Fault {
  code?: string | undefined;
  responseCode?: number | undefined;
  response?: string | undefined;
  command?: string | undefined;
  /** Of an error of the operating system. */
  syscall?: string | undefined;
  message: string;
}

/**
 * Connects to the mail server, with TLS and signed in as the settings say, and runs the work, all in at most
 * `timeoutMs`. Throws a MailError, also when the signal is aborted.
 */
async function withServer<T>(
  smtp: SmtpSettings,
  { timeoutMs, signal }: { timeoutMs: number; signal?: AbortSignal },
  work: (connection: SMTPConnection) => Promise<T>,
): Promise<T> {
  const { host, port, tls, verifies, ca, login, greeting } = smtp;
  const connection = new SMTPConnection({
    host,
    port,
    name: greeting,
    secure: tls === "implicit",
    requireTLS: tls === "starttls",
    ignoreTLS: tls === "none",
    tls: { rejectUnauthorized: verifies, ...(ca !== undefined && { ca }) },
    connectionTimeout: Math.min(STEP_TIMEOUT_MS, timeoutMs),
    greetingTimeout: Math.min(STEP_TIMEOUT_MS, timeoutMs),
    socketTimeout: Math.min(STEP_TIMEOUT_MS, timeoutMs),
    dnsTimeout: Math.min(STEP_TIMEOUT_MS, timeoutMs),
    socketCloseTimeout: 1_000,
    maxResponseSize: MAX_RESPONSE_BYTES,
    logger: false,
  });
  const { promise: ended, reject: end } = Promise.withResolvers<never>();
  // It may end after the work has.
  ended.catch(() => {});
  const stop = (): void => end(new MailError("interrupted", "it was interrupted"));
  connection.on("error", (error: Fault) => end(faultOf(error)));
  connection.on("end", () => end(new MailError("unreachable", "the mail server closed the connection")));
  const timer = setTimeout(() => end(new MailError("silent", SILENT)), timeoutMs);
  signal?.addEventListener("abort", stop);
  try {
    signal?.throwIfAborted();
    const whole = (async () => {
      await answered((done) => connection.connect(done));
      if (login !== undefined)
        await answered((done) => connection.login({ user: login.user, pass: login.password }, done));
      return await work(connection);
    })();
    return await Promise.race([whole, ended]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
    connection.close();
  }
}

function answered(begin: (done: (error?: Fault | null) => void) => void): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  begin((error) => (error ? reject(faultOf(error)) : resolve()));
  // Where the connection ends first, nobody waits for it any more.
  promise.catch(() => {});
  return promise;
}

/** Connects, signs in and leaves. Throws a MailError that says what is wrong. */
export async function examineServer(smtp: SmtpSettings, timeoutMs: number): Promise<void> {
  await withServer(smtp, { timeoutMs }, async () => {});
}

/**
 * Sends the mail, whose text is plain. `id`: the same for each attempt, so that a mail that arrives twice has one id.
 * Throws a MailError.
 */
export async function sendMail(
  smtp: SmtpSettings,
  { id, address, text, atMs }: { id: string; address: string; text: MailText; atMs: number },
  options: { timeoutMs: number; signal: AbortSignal },
): Promise<void> {
  const { from } = smtp;
  const message = await new MailComposer({
    from: from.name === "" ? from.address : from,
    to: { name: "", address },
    subject: text.subject,
    text: `${text.lines.join("\n")}\n`,
    textEncoding: "base64",
    messageId: `<${id}@${from.address.slice(from.address.lastIndexOf("@") + 1)}>`,
    date: new Date(atMs),
    headers: { "Auto-Submitted": "auto-generated" },
    disableFileAccess: true,
    disableUrlAccess: true,
  })
    .compile()
    .build();
  await withServer(smtp, options, (connection) =>
    answered((done) => connection.send({ from: from.address, to: [address] }, message, done)),
  );
}

/** What the fault means for the mail, in words for people; what the server said only where it is about the mail. */
function faultOf(error: Fault | MailError): MailError {
  if (error instanceof MailError) return error;
  const { code = "", responseCode = 0, response = "", command = "", syscall = "", message } = error;
  const detail = printable(response === "" ? message : response);
  if (code === "EAUTH" || code === "ENOAUTH")
    return new MailError("signIn", "the mail server does not accept this server's sign-in", { detail });
  if (code === "ETLS" || (code === "ESOCKET" && syscall === ""))
    return new MailError("untrusted", "no connection that can be trusted to the mail server", { detail });
  if (code === "EDNS") return new MailError("name", "the name of the mail server is not known", { detail });
  if (code === "ETIMEDOUT") return new MailError("silent", SILENT, { detail });
  if (responseCode < 400) return new MailError("unreachable", "the mail server could not be reached", { detail });
  if (!["RCPT TO", "DATA", "MAIL FROM"].includes(command))
    return new MailError("notReady", `the mail server is not ready (${responseCode})`, { detail });
  return new MailError("mail", `the mail server said ${detail}`, { isFinal: responseCode >= 500, detail });
}

const CONTROL_CHARACTERS = /[\p{Cc}\p{Cf}]+/gu;

/** What a server said, as one short line. */
function printable(text: string): string {
  return text.slice(0, MAX_SAID_CHARS).toWellFormed().replace(CONTROL_CHARACTERS, " ").trim();
}
