import type { SmtpSettings } from "./settings.ts";
import type { MailError } from "./smtp.ts";

/** Connects to the mail server, signs in and leaves. What is wrong with that; undefined when nothing is. */
export async function examineMailServer(smtp: SmtpSettings, timeoutMs: number): Promise<MailError | undefined> {
  const { examineServer, MailError: Fault } = await import("./smtp.ts");
  try {
    await examineServer(smtp, timeoutMs);
    return undefined;
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
}
