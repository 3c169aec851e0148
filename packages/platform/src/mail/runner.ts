import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import type { Config } from "@moorage/kernel/config";
import { systemCallNow } from "@moorage/kernel/core/system-call";
import type { CallData } from "@moorage/kernel/core/call";
import type { Transactor } from "@moorage/kernel/core/transactor";
import type { Clock } from "@moorage/kernel/lib/clock";
import { SecretError, type Secrets } from "@moorage/kernel/lib/secrets";
import { createTasks, startWorker, type Wakes, whileHeld } from "@moorage/kernel/work";
import { mailPlace } from "./outbox.ts";
import {
  claimMail,
  type ClaimedMail,
  failMail,
  finishMail,
  HOLD_MS,
  isAnyDue,
  releaseMail,
  renewMail,
} from "./queue.ts";
import type { SmtpSettings } from "./settings.ts";
import type { MailText } from "./text.ts";

export interface MailRunnerDeps {
  transactor: Transactor;
  wakes: Wakes;
  secrets: Secrets;
  clock: Clock;
  log: Logger;
  /** Undefined where no mail is sent: what waits from before has failed. */
  smtp: SmtpSettings | undefined;
  config: Pick<Config, "smtpRetryMs" | "smtpTimeoutMs" | "workPollMs">;
}

/** The most mails that one process sends concurrently, each on a connection of its own. */
const MAX_UNDER_WAY = 2;

/** Sends mails that are due; processes share the work. `stop` ends what is under way, which is done again later. */
export function startMails(deps: MailRunnerDeps): { stop(): Promise<void> } {
  const { transactor, secrets, clock, log, smtp, config } = deps;
  const holder = randomUUID();
  const stopping = new AbortController();
  const underWay = createTasks<string>({ most: MAX_UNDER_WAY, ended: () => worker.wake() });
  const data = (): CallData => systemCallNow(clock);
  const send = async ({ uid, address, content }: ClaimedMail, signal: AbortSignal): Promise<void> => {
    // Loaded with the first mail.
    const { MailError, sendMail } = await import("./smtp.ts");
    if (smtp === undefined) throw new MailError("off", "this server sends no mail any more", { isFinal: true });
    const text = JSON.parse(secrets.open(content, mailPlace(uid))) as MailText;
    await sendMail(smtp, { id: uid, address, text, atMs: clock.nowMs() }, { timeoutMs: config.smtpTimeoutMs, signal });
  };
  const sendOne = async (claimed: ClaimedMail): Promise<void> => {
    const place = { uid: claimed.uid, holder };
    const renew = (): Promise<{ held: boolean }> => transactor.write(renewMail, data(), place);
    await whileHeld({ renew, holdMs: HOLD_MS, log, what: "a mail" }, async (lost) => {
      try {
        await send(claimed, AbortSignal.any([stopping.signal, lost]));
        await transactor.write(finishMail, data(), place);
      } catch (error) {
        if (stopping.signal.aborted) return await transactor.write(releaseMail, data(), place);
        const failure = await failureOf(error);
        if (failure === undefined) throw error;
        const { reason, isFinal, detail } = failure;
        const outcome = await transactor.write(failMail, data(), {
          ...place,
          reason,
          isFinal,
          delaysMs: config.smtpRetryMs,
        });
        log.warn({ mail: claimed.uid, reason, detail, outcome }, "a mail was not sent");
      }
    });
  };
  const run = async (): Promise<void> => {
    const maxAttempts = config.smtpRetryMs.length + 1;
    // Reads first: a server that has nothing to send writes nothing.
    if (!(await transactor.read(data(), isAnyDue))) return;
    while (underWay.hasPlace() && !stopping.signal.aborted) {
      const { claimed, again = false } = await transactor.write(claimMail, data(), { holder, maxAttempts });
      if (claimed !== undefined) {
        const task = sendOne(claimed).catch((error: unknown) =>
          log.warn({ err: error, mail: claimed.uid }, "a mail ended without a result"),
        );
        underWay.start(claimed.uid, task);
      } else if (!again) return;
    }
  };
  const { workPollMs: pollMs } = config;
  const worker = startWorker({ run, pollMs, stopping, log, what: "looking for mails to send" });
  deps.wakes.on("mails", worker.wake);
  return {
    async stop() {
      await worker.stop();
      await underWay.settled();
    },
  };
}

/** Why a mail was not sent, if it is no error of the server itself. */
async function failureOf(error: unknown): Promise<{ reason: string; isFinal: boolean; detail: string } | undefined> {
  const { MailError } = await import("./smtp.ts");
  if (error instanceof MailError) return { reason: error.message, isFinal: error.isFinal, detail: error.detail };
  if (error instanceof SecretError)
    return { reason: "its text was sealed with another key", isFinal: true, detail: error.message };
  return undefined;
}
