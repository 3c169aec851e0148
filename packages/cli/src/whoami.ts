// `moorage whoami`: the identity that commands use on a server.
import type { Command } from "commander";
import { checkToken, type JsonObject, openRest } from "./api/rest.ts";
import { isPersonalToken, readableToken } from "./caller-identity.ts";
import { Unreachable } from "./http/http.ts";
import { claimsOf } from "./claims.ts";
import { lineOf } from "./command/failure.ts";
import { addServerOptions, type ServerFlags } from "./command/global-options.ts";
import { originOf, platformToken } from "./caller.ts";
import { type Login, readLogins } from "./credentials.ts";
import { formatOf } from "./output/format.ts";
import { addOutputOptions, type OutputFlags, printItem, printMessage } from "./output/output.ts";
import { plain } from "./printable.ts";
import { listingOf } from "./resources/columns.ts";
import { namedBy } from "./sign-ins.ts";

/** Adds `moorage whoami`. */
export function addWhoami(program: Command): void {
  const command = program.command("whoami").description("show the identity that commands act as");
  addOutputOptions(command);
  addServerOptions(command, ["context", "url", "token", "dataDir", "debug"]).action(
    async (flags: ServerFlags & OutputFlags) => {
      const { url, token } = namedBy(flags);
      const isPersonal = token !== undefined && isPersonalToken(token);
      const { server, bearer, login, dataDir } =
        token === undefined || isPersonal ? await callerOf(flags) : given(token, url);
      const { exp, ...others } = claimsOf(await readableToken(server, bearer));
      const claims = isPersonal ? others : { ...others, exp };
      if (formatOf(flags).kind !== "table") {
        await printItem(shownOf(server, claims, login), LISTING, flags);
        return askServer({ ...flags, url: server });
      }
      const lines: [string, string][] = [
        ["server", server],
        ["identity", String(claims["sub"])],
      ];
      if (dataDir !== undefined) lines.push(["signed by", `the key in ${dataDir}, as its owner`]);
      if (login?.identityProvider) lines.push(["identity provider", login.identityProvider]);
      const { act, groups, groups_exp: groupsEnd } = claims;
      if (isRecord(act) && typeof act["email"] === "string") lines.push(["e-mail at the provider", act["email"]]);
      if (Array.isArray(groups))
        lines.push(["groups at the provider", `${groups.join(", ")} (their roles end at ${timeOf(groupsEnd)})`]);
      if (isPersonal) lines.push(["personal token", `ends with ${bearer.slice(-4)}`]);
      const hasEnded = Number(claims["exp"]) * 1000 <= Date.now();
      const isReplaced = login !== undefined || dataDir !== undefined;
      if (!isPersonal)
        lines.push([
          hasEnded ? "token ended" : "token ends",
          `${timeOf(claims["exp"])}${isReplaced ? "; it is replaced when it is needed" : ""}`,
        ]);
      for (const [name, value] of lines) console.log(`${name}: ${plain(value)}`);
      await askServer({ ...flags, url: server });
    },
  );
}

/**
 * Throws what every other command would, when the server does not accept the token. A server that does not answer is
 * only named: the token says by itself whose it is.
 */
async function askServer(flags: ServerFlags): Promise<void> {
  try {
    await checkToken(await openRest(flags));
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error;
    printMessage(`moorage: whether the server accepts it is not known: ${lineOf(error)}`);
  }
}

const LISTING = listingOf("whoami", "identities", [
  { name: "uid", type: "string", help: "" },
  { name: "server", type: "string", help: "" },
  { name: "email", type: "string", help: "" },
  { name: "endTime", type: "timestamp", help: "" },
]);

/** What is known of a caller, as JSON. Groups are those at the provider, with when their roles end. */
function shownOf(server: string, claims: Record<string, unknown>, login: Login | undefined): JsonObject {
  const { act, groups, groups_exp: groupsEnd } = claims;
  return {
    server,
    uid: String(claims["sub"]),
    ...(login?.identityProvider && { identityProvider: login.identityProvider }),
    ...(isRecord(act) && typeof act["email"] === "string" && { email: act["email"] }),
    ...(Array.isArray(groups) && { groups: groups.map(String), groupsEndTime: timeOf(groupsEnd) }),
    ...(claims["exp"] !== undefined && { endTime: timeOf(claims["exp"]) }),
  };
}

interface Shown {
  server: string;
  bearer: string;
  /** The sign-in that the token is of. */
  login?: Login | undefined;
  /** The data folder whose key signed the token. */
  dataDir?: string;
}

/** The caller that every other command would be with these flags. */
async function callerOf(flags: ServerFlags): Promise<Shown> {
  const origin = await originOf(flags);
  const { url: server, token: bearer } = await platformToken(origin);
  return {
    server,
    bearer,
    ...(origin.kind === "sign-in" && { login: readLogins()[server] }),
    ...(origin.kind === "data folder" && { dataDir: origin.dataDir }),
  };
}

/** The server is the one named, or else the one that the token says it is of. */
function given(bearer: string, url: string | undefined): Shown {
  return { server: url ?? String(claimsOf(bearer)["iss"]), bearer };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

function timeOf(seconds: unknown): string {
  return new Date(Number(seconds) * 1000).toISOString();
}
