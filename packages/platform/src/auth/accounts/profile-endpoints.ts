import type { CallData } from "@moorage/kernel/core/call";
import type { Request, RequestHandler } from "@moorage/kernel/core/http";
import { invalidArgument, notFound } from "@moorage/kernel/errors";
import { answerJson } from "../http/endpoints.ts";
import { requireSession } from "../sign-in/session-endpoints.ts";
import { mayHaveAccount, requireFresh } from "./authority.ts";
import { type AccountDeps, fieldsOf, requireOn } from "./deps.ts";
import { labelOf } from "./make-endpoints.ts";
import { type AccountChange, changeAccount } from "./profile-commands.ts";
import { type Account, accountPlace, findAccount, passkeysOf } from "./rows.ts";
import { confirmSetUp, offerSetUp } from "./second-factor.ts";
import { newRecoveryCodes, recoveryCodeHash } from "./totp.ts";

/** GET /session/account: the account of who is signed in, or whether one can be made. */
export function accountEndpoint(deps: AccountDeps): RequestHandler {
  return async (request, response, data) => {
    const call = deps.callData(request, data);
    const session = await requireSession(deps, request, call);
    const account = deps.config.localAccounts === "off" ? undefined : await findAccount(deps.reader, session);
    if (account === undefined)
      return answerJson(request, response, 200, { account: null, mayMake: await mayHaveAccount(deps, session) });
    const codes = await deps.reader
      .selectFrom("recovery_codes")
      .select((query) => query.fn.countAll<number>().as("n"))
      .where("identity", "=", session.identity)
      .executeTakeFirstOrThrow();
    const keys = await passkeysOf(deps.reader, session.identity);
    const { name, password, totp, secondFactor } = account;
    answerJson(request, response, 200, {
      account: {
        name,
        hasPassword: password !== "",
        hasApp: totp !== "",
        needsSecondFactor: secondFactor,
        recoveryCodes: Number(codes.n),
        passkeys: keys.map((key) => ({
          keyId: key.key_id,
          label: key.name,
          host: key.rp_id,
          createTime: timeText(key.create_time),
          usedTime: key.used_time === null ? null : timeText(key.used_time),
        })),
      },
      mayMake: false,
    });
  };
}

function timeText(timeMs: number): string {
  return new Date(timeMs).toISOString();
}

/** The endpoints that change an account in a session in which it was just proved, by the last part of their paths. */
export function changeEndpoints(deps: AccountDeps): Record<string, RequestHandler> {
  const changing =
    <N extends string>(
      names: readonly N[],
      work: (fields: Record<N, string>, account: Account, nowMs: number) => { change?: AccountChange; answer: object },
    ): RequestHandler =>
    async (request, response, data) => {
      const call = deps.callData(request, data);
      const fields = await fieldsOf(deps, request, names);
      requireOn(deps);
      const { account, session } = await ownAccount(deps, request, call);
      const { change, answer } = work(fields, account, call.nowMs);
      const { identity } = account;
      if (change !== undefined && !(await deps.writer.write(changeAccount, call, { identity, session, change })))
        throw notFound("", "what is to be changed");
      answerJson(request, response, 200, answer);
    };
  const withCodes = (): { codes: string[]; codeHashes: string[] } => {
    const codes = newRecoveryCodes();
    return { codes, codeHashes: codes.map((code) => recoveryCodeHash(code) ?? "") };
  };
  return {
    "passkey/rename": changing(["keyId", "label"], ({ keyId, label }) => ({
      change: { kind: "renamePasskey", keyId, label: labelOf(label) },
      answer: {},
    })),
    "passkey/remove": changing(["keyId"], ({ keyId }) => ({ change: { kind: "removePasskey", keyId }, answer: {} })),
    "password/remove": changing([], () => ({ change: { kind: "removePassword" }, answer: {} })),
    app: changing(["setUp", "code"], (fields, { identity, name }, nowMs) => {
      if (fields.setUp === "") return { answer: offerSetUp(deps, identity, name, nowMs) };
      const made = confirmSetUp(deps, identity, fields, nowMs);
      if (made === undefined)
        throw invalidArgument({ field: "code", description: "is not the one that the app shows now" });
      const totp = { secret: deps.secrets.seal(made.secret, accountPlace(identity)), step: made.step };
      const { codes, codeHashes } = withCodes();
      return { change: { kind: "setApp", totp, codeHashes }, answer: { recoveryCodes: codes } };
    }),
    "app/remove": changing([], () => ({ change: { kind: "removeApp" }, answer: {} })),
    "recovery-codes": changing([], () => {
      const { codes, codeHashes } = withCodes();
      return { change: { kind: "setCodes", codeHashes }, answer: { recoveryCodes: codes } };
    }),
  };
}

async function ownAccount(
  deps: AccountDeps,
  request: Request,
  call: CallData,
): Promise<{ account: Account; session: string }> {
  const session = await requireSession(deps, request, call);
  requireFresh(session, call.nowMs);
  const account = await findAccount(deps.reader, session);
  if (account === undefined) throw notFound("", "an account of yours");
  return { account, session: session.uid };
}
