import { FetchError, type GuardedFetch } from "@moorage/kernel/lib/guarded-fetch";
import { createLru } from "@moorage/kernel/lib/lru";
import { OAuthError } from "../http/oauth.ts";
import { ClientDocumentError, parseDocument, parseDocumentUrl } from "./client-document.ts";
import type { Client } from "./clients.ts";

/**
 * Finds the client whose id is the URL of its metadata document, which is fetched and kept for some minutes. Throws an
 * OAuthError, to be shown to the person, when there is no such client.
 */
export type ClientDocuments = (id: string, nowMs: number) => Promise<Client>;

const KEPT_MS = 300_000;
// A wrong document is not fetched for every request that names it.
const WRONG_KEPT_MS = 30_000;
const MAX_KEPT = 500;
/** Anybody may have documents fetched: no more than so many concurrently in a process. */
const MAX_CONCURRENT = 16;
const JSON_TYPE = /^application\/(?:[a-z0-9.+-]+\+)?json$/;

/** `fetch` must refuse addresses that are not public, redirects and large answers. */
export function createClientDocuments({ fetch }: { fetch: GuardedFetch }): ClientDocuments {
  const kept = createLru<string, { found: Client | OAuthError; untilMs: number }>(MAX_KEPT);
  const underWay = new Map<string, Promise<Client | OAuthError>>();
  const read = async (url: URL): Promise<Client | OAuthError> => {
    try {
      const { status, headers, body } = await fetch(url.href, { headers: { accept: "application/json" } });
      if (status !== 200) throw new ClientDocumentError("the client's metadata document is not there");
      if (!JSON_TYPE.test(mediaTypeOf(headers["content-type"])))
        throw new ClientDocumentError("the client's metadata document is not application/json");
      return parseDocument(url, body.toString("utf8"));
    } catch (error) {
      if (error instanceof ClientDocumentError) return invalid(error);
      if (error instanceof FetchError)
        return invalid(
          new ClientDocumentError(`the client's metadata document could not be fetched: ${error.message}`),
        );
      throw error;
    }
  };
  return async (id, nowMs) => {
    const url = urlOf(id);
    const known = kept.get(id);
    if (known !== undefined && nowMs < known.untilMs && nowMs >= known.untilMs - KEPT_MS) return use(known.found);
    let reading = underWay.get(id);
    if (reading === undefined) {
      if (underWay.size >= MAX_CONCURRENT)
        throw new OAuthError(503, "temporarily_unavailable", "too many programs sign in at the moment: try again");
      reading = read(url).finally(() => underWay.delete(id));
      underWay.set(id, reading);
    }
    const found = await reading;
    kept.set(id, { found, untilMs: nowMs + (found instanceof OAuthError ? WRONG_KEPT_MS : KEPT_MS) });
    return use(found);
  };
}

function urlOf(id: string): URL {
  try {
    return parseDocumentUrl(id);
  } catch (error) {
    throw error instanceof ClientDocumentError ? invalid(error) : error;
  }
}

function use(found: Client | OAuthError): Client {
  if (found instanceof OAuthError) throw found;
  return found;
}

function invalid({ message }: ClientDocumentError): OAuthError {
  return new OAuthError(400, "invalid_client", message);
}

function mediaTypeOf(header: string | string[] | undefined): string {
  return (Array.isArray(header) ? "" : (header ?? "")).split(";")[0]?.trim().toLowerCase() ?? "";
}
