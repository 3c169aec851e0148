import { createHash } from "node:crypto";
import { publishDocument } from "../../packages/server/test/support/npm.ts";
import { again, type Answer, ask, type Case, each, jsonOf, type Place, typeOf } from "./ask.ts";

const LIB = "/@acme%2flib";
const ABBREVIATED = "application/vnd.npm.install-v1+json";
const NPM_ACCEPT = `${ABBREVIATED}; q=1.0, application/json; q=0.8, */*`;

interface Packument {
  _rev: string;
  "dist-tags": Record<string, string>;
  versions: Record<string, Manifest>;
}
interface Manifest {
  version: string;
  deprecated?: string;
  scripts?: object;
  dist: { tarball: string; integrity: string; shasum: string };
}

/** The document as npm sends it: with the tarball at the registry's own path. */
function documentOf(
  name: string,
  version: string,
  options: object = {},
): object & { versions: Record<string, Manifest> } {
  const document = publishDocument(name, version, options) as { versions: Record<string, Manifest> };
  for (const { dist } of Object.values(document.versions))
    dist.tarball = `http://registry.example/${name}/-/${name}-${version}.tgz`;
  return document;
}
const publish = (place: Place, name: string, document: object): Promise<Answer> =>
  ask(place, `/${name.replace("/", "%2f")}`, { method: "PUT", json: document });
const published = async (place: Place, name: string, version: string, options: object = {}): Promise<string> =>
  String((await publish(place, name, documentOf(name, version, options))).status);
const statusOf = async (place: Place, path: string, question = {}): Promise<string> =>
  String((await ask(place, path, question)).status);
const packument = async (place: Place, path = LIB, accept = "*/*"): Promise<Partial<Packument>> =>
  jsonOf<Packument>(await ask(place, path, { headers: { accept } }));
const listed = ({ versions = {} }: Partial<Packument>): string => Object.keys(versions).join(" ") || "no version";
const tagsOf = (tags: object): string =>
  Object.entries(tags)
    .map((pair) => pair.join(" "))
    .join(", ");
const tarballOf = async (place: Place): Promise<string> =>
  (await packument(place)).versions?.["1.0.0"]?.dist.tarball ?? "";
const integrityOf = (bytes: Buffer): string => `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
const errorOf = (answer: Answer): string => {
  const { error } = jsonOf<{ error: string }>(answer);
  return `${answer.status}, ${typeof error === "string" ? "an error in JSON" : `${typeOf(answer)} without an error`}`;
};

/** Requests of npm's registry API, in an order in which each finds what those before it made. */
export const NPM_CASES: readonly Case[] = [
  { title: "publish a version", ask: (place) => published(place, "@acme/lib", "1.0.0") },
  {
    title: "publish a second one under the tag `next`",
    ask: (place) => published(place, "@acme/lib", "1.1.0", { tags: { next: "1.1.0" } }),
  },
  {
    title: "publish a version again",
    ask: (place) => published(place, "@acme/lib", "1.0.0"),
    because: "npm's own registry answers 403, and npm prints the reason of that one",
  },
  {
    title: "publish without credentials",
    ask: (place) =>
      statusOf(place, "/sneaked", { method: "PUT", json: documentOf("sneaked", "1.0.0"), anonymous: true }),
  },
  {
    title: "publish with an integrity that is not the tarball's",
    async ask(place) {
      const document = documentOf("untrue", "2.0.0");
      for (const { dist } of Object.values(document.versions)) dist.integrity = integrityOf(Buffer.from("other"));
      return String((await publish(place, "untrue", document)).status);
    },
    because: "each client would find out later that what it got is not what was announced",
  },
  {
    title: "publish a document of another name than the path's",
    ask: async (place) => String((await publish(place, "one", documentOf("other", "1.0.0"))).status),
    because: "a client that asks for one name must not get a package of another",
  },
  {
    title: "publish version `1.0`, which is not SemVer",
    ask: (place) => published(place, "short", "1.0"),
    because: "npm could not compare it with other versions",
  },
  {
    title: "publish under the names `Upper`, `node_modules`, `.hidden`, `ünicode`",
    ask: (place) =>
      each(["Upper", "node_modules", ".hidden", "ünicode"], async (name) => {
        const path = `/${encodeURIComponent(name)}`;
        return statusOf(place, path, { method: "PUT", json: documentOf(name, "1.0.0") });
      }),
    because: "npm takes none of these for a new package; upper case and look-alikes have been used to pass for another",
  },
  {
    title: "publish something that is not JSON",
    ask: (place) =>
      statusOf(place, "/nojson", { method: "PUT", body: { type: "application/json", content: Buffer.from("{no") } }),
  },
  {
    title: "packument, full",
    async ask(place) {
      const answer = await ask(place, LIB);
      const found = jsonOf<Packument>(answer);
      return `${answer.status}, ${typeOf(answer)}, ${listed(found)}, ${tagsOf(found["dist-tags"] ?? {})}`;
    },
  },
  {
    title: "packument, abbreviated",
    async ask(place) {
      const answer = await ask(place, LIB, { headers: { accept: ABBREVIATED } });
      const found = jsonOf<Packument>(answer);
      return `${answer.status}, ${typeOf(answer)}, ${listed(found)}, ${found._rev === undefined ? "no" : "a"} _rev`;
    },
  },
  {
    title: "packument, with the Accept header of npm",
    async ask(place) {
      const answer = await ask(place, LIB, { headers: { accept: NPM_ACCEPT } });
      return `${answer.status}, ${typeOf(answer)}`;
    },
  },
  {
    title: "packument, the scope as a segment of its own",
    ask: async (place) => listed(await packument(place, "/@acme/lib")),
  },
  {
    title: "packument, once more",
    ask: async (place) => again(place, LIB, await ask(place, LIB)),
  },
  {
    title: "packument, `Accept-Encoding: gzip`",
    async ask(place) {
      const { headers } = await ask(place, LIB, { headers: { "accept-encoding": "gzip" } });
      return headers["content-encoding"] ?? "not compressed";
    },
  },
  {
    title: "packument, HEAD",
    async ask(place) {
      const answer = await ask(place, LIB, { method: "HEAD" });
      return `${answer.status}, ${answer.headers["content-length"] === undefined ? "no length" : "its length"}`;
    },
  },
  {
    title: "packument, how long it may be kept",
    async ask(place) {
      const { headers } = await ask(place, LIB);
      return headers["cache-control"] ?? "nothing said";
    },
    because: "what one may read another may not: shared caches must keep nothing of it",
  },
  { title: "packument, without credentials", ask: (place) => statusOf(place, LIB, { anonymous: true }) },
  { title: "packument of a package that is not there", ask: async (place) => errorOf(await ask(place, "/nowhere")) },
  {
    title: "packument of `../lib`, `..%2f..%2flib`, `@acme%2f..%2flib`",
    ask: (place) => each(["/../lib", "/..%2f..%2flib", "/@acme%2f..%2flib"], (path) => statusOf(place, path)),
    because: "names with these characters cannot be; what of them there is to find is nothing",
  },
  {
    title: "one version, by number, by tag, and one that is not there",
    ask: (place) =>
      each(["1.0.0", "next", "9.9.9"], async (ref) => {
        const answer = await ask(place, `${LIB}/${ref}`);
        return answer.status === 200 ? (jsonOf<Manifest>(answer).version ?? "") : errorOf(answer);
      }),
  },
  {
    title: "dist-tags, GET",
    ask: async (place) => tagsOf(jsonOf(await ask(place, `/-/package${LIB}/dist-tags`))),
  },
  {
    title: "dist-tags: set `beta`, then list",
    async ask(place) {
      const set = await ask(place, `/-/package${LIB}/dist-tags/beta`, { method: "PUT", json: "1.1.0" });
      return `${set.status}, ${tagsOf(jsonOf(await ask(place, `/-/package${LIB}/dist-tags`)))}`;
    },
    because: "npm asks only for success, and its own registry answers 200",
  },
  {
    title: "dist-tags: set to a version that is not there",
    ask: (place) => statusOf(place, `/-/package${LIB}/dist-tags/wrong`, { method: "PUT", json: "7.0.0" }),
    because: "the error says which field is wrong; the package itself is there",
  },
  {
    title: "dist-tags: remove `beta`",
    ask: (place) => statusOf(place, `/-/package${LIB}/dist-tags/beta`, { method: "DELETE" }),
    because: "npm asks only for success, and its own registry answers 200",
  },
  {
    title: "dist-tags: remove `latest`",
    ask: (place) => statusOf(place, `/-/package${LIB}/dist-tags/latest`, { method: "DELETE" }),
    because: "without `latest`, `npm install` of the name alone fails; npm's own registry refuses it, too",
  },
  {
    title: "tarball",
    async ask(place) {
      const { versions = {} } = await packument(place);
      const dist = versions["1.0.0"]?.dist;
      const answer = await ask(place, dist?.tarball ?? "");
      return `${answer.status}, ${typeOf(answer)}, ${integrityOf(answer.body) === dist?.integrity ? "as announced" : "another one"}`;
    },
  },
  {
    title: "tarball, once more",
    async ask(place) {
      const path = await tarballOf(place);
      return again(place, path, await ask(place, path));
    },
    because: "the ETag is the content's digest: a client that has it gets no second copy",
  },
  {
    title: "tarball, HEAD",
    async ask(place) {
      const answer = await ask(place, await tarballOf(place), { method: "HEAD" });
      return `${answer.status}, ${answer.headers["content-length"] === undefined ? "no length" : "its length"}`;
    },
  },
  {
    title: "tarball, its first ten bytes, and from beyond its end",
    async ask(place) {
      const path = await tarballOf(place);
      return each(["bytes=0-9", "bytes=999999999-"], async (range) => {
        const { status, body } = await ask(place, path, { headers: { range } });
        return status === 206 ? `206 with ${body.length}` : String(status);
      });
    },
    because: "an interrupted download goes on where it stopped",
  },
  {
    title: "tarball that is not there",
    ask: async (place) => errorOf(await ask(place, `/@acme/lib/-/lib-9.9.9.tgz`)),
  },
  {
    title: "whoami, without credentials",
    async ask(place) {
      const answer = await ask(place, "/-/whoami", { anonymous: true });
      return `${answer.status}${answer.status === 200 ? ` ${answer.body.toString().trim()}` : ""}`;
    },
    because: "npm takes 401 for what it is, and says that one has to log in",
  },
  {
    title: "whoami",
    async ask(place) {
      const answer = await ask(place, "/-/whoami");
      return `${answer.status}, ${jsonOf<{ username: string }>(answer).username ? "a username" : "none"}`;
    },
  },
  { title: "ping", ask: async (place) => `${await statusOf(place, "/-/ping")}` },
  {
    title: "`npm login`: PUT of a user",
    ask: (place) =>
      statusOf(place, "/-/user/org.couchdb.user:new", {
        method: "PUT",
        json: { name: "new", password: "a long password" },
        anonymous: true,
      }),
    because: "identities are made by the platform API, not by whoever asks; the error says where a token comes from",
  },
  {
    title: "search: a word of a name, another word, a letter in its middle",
    ask: (place) =>
      each(["lib", "other", "ib"], async (text) => {
        const found = jsonOf<{ total: number }>(await ask(place, `/-/v1/search?text=${text}&size=5`));
        return `${found.total} found`;
      }),
    because:
      "names are found by the beginnings of their words, which an index answers for a million packages; verdaccio looks into each",
  },
  {
    title: "`npm audit`: POST of names and versions",
    async ask(place) {
      const answer = await ask(place, "/-/npm/v1/security/advisories/bulk", {
        method: "POST",
        json: { "left-pad": ["1.3.0"] },
      });
      return `${answer.status}, ${Object.keys(jsonOf(answer)).length} packages with advisories`;
    },
    because:
      "Moorage answers from its own feeds; verdaccio sends the list to npm's registry, which cannot be reached here",
  },
  {
    title: "keys with which versions are signed",
    ask: (place) => statusOf(place, "/-/npm/v1/keys"),
  },
  {
    title: "deprecate a version, then the packument",
    async ask(place) {
      const document = jsonOf<Packument>(await ask(place, LIB));
      const manifest = document.versions?.["1.0.0"];
      if (manifest) manifest.deprecated = "use 1.1.0";
      const answer = await ask(place, LIB, { method: "PUT", json: document });
      const { versions = {} } = await packument(place, LIB, ABBREVIATED);
      return `${answer.status}, ${versions["1.0.0"]?.deprecated ?? "not deprecated"}`;
    },
    because: "nothing new is made; npm asks only for success",
  },
  {
    title: "unpublish one of two versions, as npm does it",
    async ask(place) {
      const document = jsonOf<Packument>(await ask(place, LIB));
      const path = document.versions?.["1.1.0"]?.dist.tarball ?? "";
      delete document.versions?.["1.1.0"];
      const tags = document["dist-tags"] ?? {};
      for (const [tag, version] of Object.entries(tags)) if (version === "1.1.0") delete tags[tag];
      const changed = await ask(place, `${LIB}/-rev/${document._rev}`, { method: "PUT", json: document });
      const { _rev: rev } = await packument(place);
      const removed = await ask(place, `${path}/-rev/${rev}`, { method: "DELETE" });
      return `${changed.status}, ${removed.status}, ${listed(await packument(place))}`;
    },
    because: "nothing new is made; npm asks only for success",
  },
  {
    title: "publish the removed version again",
    ask: (place) => published(place, "@acme/lib", "1.1.0"),
    because: "a version never stands for other bytes than those that somebody may have in a lock file",
  },
  {
    title: "unpublish with a revision that is not the latest",
    ask: (place) => statusOf(place, `${LIB}/-rev/1-0000000000000000`, { method: "DELETE" }),
    because: "somebody may have published in the meantime what nobody meant to remove",
  },
  {
    title: "unpublish a package, then ask for it",
    async ask(place) {
      await publish(place, "gone", documentOf("gone", "1.0.0"));
      const { _rev: rev } = await packument(place, "/gone");
      const removed = await ask(place, `/gone/-rev/${rev}`, { method: "DELETE" });
      return `${removed.status}, ${await statusOf(place, "/gone")}`;
    },
    because: "nothing new is made; npm asks only for success",
  },
];
