import { libraryError } from "../http/errors.ts";
import { type LibraryExchange, read } from "../requests/exchange.ts";
import { groupFor } from "../http/groups.ts";
import { sendJson } from "../requests/send.ts";
import { ATTESTATIONS, sendAttestations, sendKeys } from "./attestations-read.ts";
import { answerAudit } from "./audit.ts";
import { sendSearch } from "./search.ts";

interface OfRegistry {
  group: readonly string[];
  rest: string;
}

/** Whether the path is one of `npm login`, which is answered to callers without a token. */
export function isLogin({ rest }: OfRegistry): boolean {
  return rest === "v1/login" || rest.startsWith("user/");
}

/** The error that says how clients get in. */
export function noLogin(): Error {
  return libraryError(
    400,
    "There is no npm login here: put a pull or push token into .npmrc, as docs/libraries.md of Moorage has it",
  );
}

/** What is of the registry of a group as a whole. */
export async function answerRegistry(exchange: LibraryExchange, path: OfRegistry): Promise<void> {
  const { req, ecosystem, caller } = exchange;
  const isRead = req.method === "GET" || req.method === "HEAD";
  const allowed = (): Promise<string> => read(exchange, (call) => groupFor(call, path.group, ecosystem.read));
  if (path.rest === "ping" && isRead) {
    await allowed();
    return sendJson(exchange, 200, {});
  }
  if (path.rest === "whoami" && isRead) {
    await allowed();
    const identity = await read(exchange, (call) =>
      call.tx.selectFrom("identities").select("name").where("uid", "=", caller.identity).executeTakeFirst(),
    );
    return sendJson(exchange, 200, { username: identity?.name ?? caller.identity }, { "cache-control": "no-store" });
  }
  if (path.rest === "npm/v1/security/advisories/bulk" && req.method === "POST")
    return await answerAudit(exchange, await allowed());
  if (path.rest.startsWith(ATTESTATIONS) && isRead)
    return await sendAttestations(exchange, path.group, path.rest.slice(ATTESTATIONS.length));
  if (path.rest === "npm/v1/keys" && isRead) return await sendKeys(exchange, path.group);
  if (path.rest === "v1/search" && isRead) return await sendSearch(exchange, await allowed());
  throw libraryError(404, `Not found: -/${path.rest.slice(0, 100)}`);
}
