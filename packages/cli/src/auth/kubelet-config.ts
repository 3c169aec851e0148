// The CredentialProviderConfig of a kubelet, as YAML or JSON. Source: kubernetes.io, "Kubelet Configuration (v1)".
import { isDeepStrictEqual } from "node:util";
import { type Document, isMap, isSeq, parseDocument, stringify } from "yaml";
import { IDENTITY_ANNOTATION, KUBELET_API_VERSION } from "../credential/kubelet.ts";
import { broken, type Edit } from "./file.ts";
import { isObject, jsonObject, withValue } from "./json.ts";

const API_VERSION = "kubelet.config.k8s.io/v1";
const KIND = "CredentialProviderConfig";
// The plugin always says how long; the field is required all the same.
const CACHE_DURATION = "1m0s";

/** What the kubelet keeps credentials by: the service account of a pod, or each token. */
export type CacheType = "ServiceAccount" | "Token";

/** An entry of `providers`. */
export type Provider = Readonly<Record<string, unknown>> & { readonly name: string };

/** What an entry is made of. */
export interface ProviderRequest {
  name: string;
  registry: string;
  url: string;
  /** Absent: the kubelet sends no tokens of service accounts. */
  serviceAccounts?: { audience: string; cacheType: CacheType };
  identity?: string;
  /** With it, pods without a service account token are served too. */
  idTokenFile?: string;
}

/** The entry for a registry. */
export function providerOf(request: ProviderRequest): Provider {
  const { name, registry, url, serviceAccounts, identity, idTokenFile } = request;
  return {
    name,
    matchImages: [registry],
    defaultCacheDuration: CACHE_DURATION,
    apiVersion: KUBELET_API_VERSION,
    args: [`--registry=${registry}`, `--url=${url}`, ...(identity === undefined ? [] : [`--identity=${identity}`])],
    ...(idTokenFile !== undefined && { env: [{ name: "MOORAGE_ID_TOKEN_FILE", value: idTokenFile }] }),
    ...(serviceAccounts && {
      tokenAttributes: {
        serviceAccountTokenAudience: serviceAccounts.audience,
        cacheType: serviceAccounts.cacheType,
        requireServiceAccount: idTokenFile === undefined,
        optionalServiceAccountAnnotationKeys: [IDENTITY_ANNOTATION],
      },
    }),
  };
}

/** A whole configuration with one entry, as YAML. */
export function configOf(provider: Provider): string {
  return stringify({ apiVersion: API_VERSION, kind: KIND, providers: [provider] });
}

/**
 * The file's text with the entry of that name, or without one. A file of JSON stays JSON, comments of YAML stay. Throws
 * an Error that names a file that is none of this kind.
 */
export function withProvider(path: string, text: string | undefined, name: string, wanted?: Provider): Edit {
  if (text === undefined || text.trim() === "")
    return wanted
      ? { text: configOf(wanted), changes: shown(name, undefined, wanted) }
      : { text: text ?? "", changes: [] };
  const isJson = text.trimStart().startsWith("{");
  const document = isJson ? undefined : documentOf(path, text);
  const providers = providersOf(path, document ? (document.toJS() as unknown) : jsonObject(path, text));
  const at = providers.findIndex((one) => isObject(one) && one["name"] === name);
  const old = providers[at];
  if (at < 0 ? wanted === undefined : isDeepStrictEqual(old, wanted)) return { text, changes: [] };
  const changes = shown(name, at < 0 ? undefined : old, wanted);
  const place = ["providers", at < 0 ? providers.length : at];
  if (!document) return { text: withValue(path, text, place, wanted), changes };
  if (wanted) document.setIn(place, document.createNode(wanted));
  else document.deleteIn(place);
  return { text: document.toString({ lineWidth: 0, flowCollectionPadding: !/\[\S/.test(text) }), changes };
}

function documentOf(path: string, text: string): Document.Parsed {
  const document = parseDocument(text);
  const [error] = document.errors;
  if (error) throw broken(path, `it is no YAML (line ${error.linePos?.[0].line ?? 1})`);
  if (!isMap(document.contents)) throw broken(path, "it is no object");
  const providers = document.get("providers", true);
  if (providers !== undefined && !isSeq(providers)) throw broken(path, "providers is no list");
  return document as Document.Parsed;
}

function providersOf(path: string, config: unknown): readonly unknown[] {
  const { apiVersion, kind, providers = [] } = isObject(config) ? config : {};
  if (apiVersion !== API_VERSION) throw broken(path, `apiVersion is not ${API_VERSION}`);
  if (kind !== KIND) throw broken(path, `kind is not ${KIND}`);
  if (!Array.isArray(providers)) throw broken(path, "providers is no list");
  return providers;
}

/** The lines in which the entries differ, below the name. */
function shown(name: string, old: unknown, wanted: unknown): string[] {
  const [before, after] = [old, wanted].map((one) => (one === undefined ? [] : stringify(one).trimEnd().split("\n")));
  const lost = before?.filter((line) => after?.includes(line) !== true).map((line) => `- ${line}`) ?? [];
  const won = after?.filter((line) => before?.includes(line) !== true).map((line) => `+ ${line}`) ?? [];
  return [`${wanted === undefined ? "-" : "+"} providers: ${name}`, ...lost, ...won];
}
