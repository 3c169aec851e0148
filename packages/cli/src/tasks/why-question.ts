// What `moorage why` asks: who, what, on which resource.
import { readFileSync } from "node:fs";
import { nearest } from "@moorage/kernel/lib/near";
import { callerIdentity } from "../caller-identity.ts";
import { parseImage } from "../api/image-reference.ts";
import { isHostOf, type Kind } from "../api/names.ts";
import type { Json, JsonObject } from "../api/rest.ts";
import { EXIT } from "../command/exit-codes.ts";
import { Failure, UsageFailure } from "../command/failure.ts";
import { NOUNS } from "../gen/resources.ts";
import { methodsOf } from "../resources/method-data.ts";
import type { MethodSpec } from "../resources/spec.ts";
import type { Session, TaskFlags } from "./session.ts";

const MAX_CLAIMS_CHARS = 64 * 1024;
const ACTIONS: readonly string[] = ["pull", "push", "delete"];

export interface WhyFlags extends TaskFlags {
  anonymous?: boolean;
  tokenClaims?: string;
  capability?: string[];
  scope?: string[];
  externalGroup?: string[];
}

/** A question for ExplainAccess, and its parts in words. */
export interface WhyQuestion {
  request: JsonObject;
  who: string;
  verb: string;
  what: string;
}

/** Reads the words of the command line, and looks the names in them up. */
export async function questionOf(session: Session, words: readonly string[], flags: WhyFlags): Promise<WhyQuestion> {
  const { anonymous, tokenClaims } = flags;
  if (anonymous === true && tokenClaims !== undefined)
    throw new UsageFailure("--anonymous and --token-claims exclude each other");
  const verbs = await Promise.all(words.slice(0, 2).map(verbOf));
  // Without an identity the first word is the verb.
  const named = anonymous === true || (tokenClaims !== undefined && verbs[0] !== undefined) ? undefined : words[0];
  const at = named === undefined ? 0 : 1;
  const [text, resource, extra] = words.slice(at);
  if (text === undefined)
    throw new UsageFailure("say who would do what to which image: moorage why acme/ci push acme/app:1.2");
  if (extra !== undefined)
    throw new UsageFailure(`${extra}: is one word too many: the identity is left out with --anonymous`);
  const verb = verbs[at] ?? (await unknownVerb(text));
  const subject = await subjectOf(session, named, flags);
  const place = resource === undefined ? "" : await placeOf(session, verb, resource);
  if (typeof verb === "string" && place === "")
    throw new UsageFailure(`name the image: moorage why ${named ?? "--anonymous"} ${verb} acme/app:1.2`);
  const scopes = await Promise.all((flags.scope ?? []).map((group) => session.names.uidOf("group", group)));
  return {
    request: {
      ...subject.field,
      ...(typeof verb === "string" ? { action: `REGISTRY_ACTION_${verb.toUpperCase()}` } : { method: verb.method }),
      resource: place,
      ...(flags.capability && { capabilities: flags.capability }),
      ...(scopes.length > 0 && { scopes }),
      ...(flags.externalGroup && { externalGroups: flags.externalGroup }),
    },
    who: subject.who,
    verb: typeof verb === "string" ? verb : text,
    what: resource ?? "",
  };
}

/** An action of the registry, or a method; undefined for other words. */
async function verbOf(word: string): Promise<string | MethodSpec | undefined> {
  if (ACTIONS.includes(word)) return word;
  const [, nounText, verbText] = /^([a-z-]+)[.: ]([a-z-]+)$/.exec(word) ?? [];
  if (nounText !== undefined) {
    const noun = NOUNS.find(({ name, aliases }) => name === nounText || aliases?.includes(nounText));
    const methods = noun === undefined ? [] : await methodsOf(noun);
    return methods.find(({ verb, aliases }) => verb === verbText || aliases?.includes(verbText ?? ""));
  }
  if (!word.includes("Service/")) return undefined;
  return (await allMethods()).find(({ method }) => method === word || method.endsWith(`.${word}`));
}

async function unknownVerb(word: string): Promise<never> {
  const methods = await allMethods();
  const services = methods.map(({ method }) => method.slice(method.lastIndexOf(".") + 1));
  const nouns = await Promise.all(
    NOUNS.map(async (noun) => (await methodsOf(noun)).map(({ verb }) => `${noun.name}.${verb}`)),
  );
  const near = nearest(word, [...ACTIONS, ...nouns.flat(), ...services]);
  throw new UsageFailure(`there is no verb ${word}`, {
    hint:
      near.length > 0
        ? `did you mean ${near.join(" or ")}?`
        : "there are pull, push, delete, commands such as repos.update, and methods such as ReposService/UpdateRepo",
  });
}

async function allMethods(): Promise<MethodSpec[]> {
  return (await Promise.all(NOUNS.map(methodsOf))).flat();
}

async function subjectOf(
  session: Session,
  named: string | undefined,
  flags: WhyFlags,
): Promise<{ field: JsonObject; who: string }> {
  if (flags.anonymous === true) return { field: { anonymous: true }, who: "whoever has no token" };
  const uid =
    named === undefined
      ? ""
      : named === "me"
        ? await callerIdentity(flags)
        : await session.names.uidOf("identity", named);
  if (flags.tokenClaims === undefined) return { field: { identity: uid }, who: named === "me" ? "you" : (named ?? "") };
  const { iss, sub, aud, ...others } = readClaims(flags.tokenClaims);
  if (typeof iss !== "string" || iss === "") throw new UsageFailure("--token-claims: the claim iss is missing");
  const audiences = (Array.isArray(aud) ? aud : aud === undefined ? [] : [aud]).map(String);
  const claims = { identity: uid, issuer: iss, subject: String(sub ?? ""), audiences, claims: JSON.stringify(others) };
  return { field: { claims }, who: `a token of ${iss} for ${String(sub ?? "nobody")}` };
}

/** The claims in a file: a JSON object, or a token, whose signature is not looked at. */
function readClaims(file: string): Record<string, Json> {
  let text: string;
  try {
    text = readFileSync(file === "-" ? 0 : file, "utf8").trim();
  } catch (cause) {
    throw new Failure(`--token-claims: cannot read ${file}: ${(cause as Error).message}`, { cause });
  }
  if (text.length > MAX_CLAIMS_CHARS) throw new Failure(`--token-claims: ${file} is too long`);
  const [, payload] = /^[\w-]+\.([\w-]+)\.[\w-]*$/.exec(text) ?? [];
  try {
    const claims = JSON.parse(
      payload === undefined ? text : Buffer.from(payload, "base64url").toString("utf8"),
    ) as Json;
    if (typeof claims === "object" && claims !== null && !Array.isArray(claims)) return claims;
  } catch {
    // Said below.
  }
  throw new UsageFailure(
    `--token-claims: ${file === "-" ? "standard input" : file} is neither a JSON object nor a token`,
  );
}

/** The resource as ExplainAccess takes it: of an action an image, of a method the uid that its rule is about. */
async function placeOf(session: Session, verb: string | MethodSpec, text: string): Promise<string> {
  if (typeof verb === "string") return imageName(session, text);
  const [first] = verb.arguments;
  const kinds: readonly Kind[] =
    first?.form === "image" || first?.form === "tag"
      ? ["repo"]
      : first?.form === "new"
        ? [first.kind ?? "group"]
        : first?.kind !== undefined
          ? [first.kind]
          : ["group", "repo"];
  if (first?.form === "image" || first?.form === "tag") return (await session.names.imageOf(text)).repo;
  let missing: unknown;
  for (const kind of kinds) {
    try {
      return await session.names.uidOf(kind, text);
    } catch (error) {
      if (!(error instanceof Failure) || error.exit !== EXIT.notFound) throw error;
      missing ??= error;
    }
  }
  throw missing;
}

/** The image without the host in front. It need not be there: a push may make it. */
async function imageName({ rest }: Session, text: string): Promise<string> {
  const { host, path, tag, digest, timeMs } = parseImage(text);
  if (timeMs !== undefined) throw new UsageFailure(`${text}: access is asked about now: leave the time out`);
  const prefix = host === undefined || (await isHostOf(rest, host, text)) ? "" : `${host}/`;
  return `${prefix}${path}${tag === undefined ? "" : `:${tag}`}${digest === undefined ? "" : `@${digest}`}`;
}
