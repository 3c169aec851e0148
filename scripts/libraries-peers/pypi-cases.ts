import { createHash } from "node:crypto";
import { sdistOf, type Wheel, wheelOf } from "../../packages/server/test/support/pypi.ts";
import { again, type Answer, ask, type Case, each, jsonOf, type Place, typeOf } from "./ask.ts";

const JSON_TYPE = "application/vnd.pypi.simple.v1+json";
const PIP_ACCEPT = `${JSON_TYPE}, application/vnd.pypi.simple.v1+html; q=0.1, text/html; q=0.01`;
const LIB: Wheel = { name: "Peer_Lib", version: "1.0", requiresPython: ">=3.8" };
const WHEEL = wheelOf(LIB);

/** The pages of an index are in a folder of their own, and files are posted elsewhere. */
export interface PypiPlace extends Place {
  simple: string;
  upload: string;
}

interface Project {
  meta: { "api-version": string };
  name: string;
  versions: string[];
  files: {
    filename: string;
    url: string;
    hashes: Record<string, string>;
    size?: number;
    yanked?: boolean | string;
    "upload-time"?: string;
    "requires-python"?: string;
    "core-metadata"?: boolean | Record<string, string>;
  }[];
}
type File = Project["files"][number];

const of = (place: Place): PypiPlace => place as PypiPlace;
const page = (place: Place, project: string): string => `${of(place).simple}/${project}`;
const statusOf = async (place: Place, path: string, question = {}): Promise<string> =>
  String((await ask(place, path, question)).status);
const moved = ({ status, headers }: Answer): string =>
  headers["location"] === undefined
    ? String(status)
    : `${status} to ${headers["location"].split("/").slice(-2).join("/")}`;

/** Uploads a file as twine does, with other fields where they are given. */
async function upload(
  place: Place,
  { filename, bytes }: { filename: string; bytes: Buffer },
  fields: Record<string, string> = {},
  anonymous = false,
): Promise<string> {
  const form = new FormData();
  const sums = { sha256_digest: "sha256", md5_digest: "md5" } as const;
  const all = {
    ":action": "file_upload",
    protocol_version: "1",
    metadata_version: "2.1",
    name: LIB.name,
    version: LIB.version,
    requires_python: LIB.requiresPython ?? "",
    filetype: filename.endsWith(".whl") ? "bdist_wheel" : "sdist",
    ...(filename.endsWith(".whl") && { pyversion: "py3" }),
    ...Object.fromEntries(
      Object.entries(sums).map(([name, sum]) => [name, createHash(sum).update(bytes).digest("hex")]),
    ),
    ...fields,
  };
  for (const [name, value] of Object.entries(all)) form.append(name, value);
  form.append("content", new Blob([Uint8Array.from(bytes)]), filename);
  const encoded = new Response(form);
  const body = {
    type: encoded.headers.get("content-type") ?? "",
    content: new Uint8Array(await encoded.arrayBuffer()),
  };
  return statusOf(place, of(place).upload, { method: "POST", body, anonymous });
}

async function project(place: Place): Promise<Partial<Project>> {
  return jsonOf<Project>(await ask(place, page(place, "peer-lib/"), { headers: { accept: JSON_TYPE } }));
}

async function wheelFile(place: Place): Promise<File> {
  const { files = [] } = await project(place);
  const found = files.find(({ filename }) => filename === WHEEL.filename);
  if (found === undefined) throw new Error(`${place.name}: no ${WHEEL.filename}`);
  const base = `http://127.0.0.1:${place.port}${place.base}${page(place, "peer-lib/")}`;
  return { ...found, url: new URL(found.url, base).href };
}

/** What the page says of the wheel, by the attributes of its link. */
async function attributes(place: Place): Promise<string> {
  const html = (await ask(place, page(place, "peer-lib/"))).body.toString();
  const link = html.split("<a ").find((part) => part.includes(WHEEL.filename)) ?? "";
  const names = [...link.matchAll(/ (data-[a-z-]+)=/g)].map(([, name = ""]) => name);
  return [...(link.includes("#sha256=") ? ["a SHA-256"] : []), ...names].join(", ");
}

/** Requests of the simple repository API and of uploads, in an order in which each finds what those before it made. */
export const PYPI_CASES: readonly Case[] = [
  { title: "upload a wheel", ask: (place) => upload(place, WHEEL) },
  { title: "upload the source distribution of the same version", ask: (place) => upload(place, sdistOf(LIB)) },
  {
    title: "upload the same file again",
    ask: (place) => upload(place, WHEEL),
  },
  {
    title: "upload other bytes under the same name",
    ask: (place) => upload(place, { filename: WHEEL.filename, bytes: wheelOf({ ...LIB, code: "other = 1\n" }).bytes }),
  },
  {
    title: "upload without credentials",
    ask: (place) => upload(place, wheelOf({ ...LIB, version: "9.0" }), { version: "9.0" }, true),
  },
  {
    title: "upload with a SHA-256 that is not the file's",
    ask: (place) =>
      upload(place, wheelOf({ ...LIB, version: "2.0" }), { version: "2.0", sha256_digest: "0".repeat(64) }),
    because: "what arrived is not what was sent",
  },
  {
    title: "upload a wheel as of another project, and as of another version",
    ask: (place) =>
      each<Record<string, string>>([{ name: "other-lib" }, { version: "3.0" }], (fields) =>
        upload(place, wheelOf({ ...LIB, version: "2.1" }), { version: "2.1", ...fields }),
      ),
  },
  {
    title: "upload a file that is no distribution",
    ask: (place) => upload(place, { filename: "peer_lib-1.0.exe", bytes: Buffer.from("MZ") }),
    because: "clients choose by the name of a file; one that no client can read is kept out",
  },
  {
    title: "the list of projects, HTML",
    async ask(place) {
      const answer = await ask(place, `${of(place).simple}/`);
      const html = answer.body.toString();
      return `${answer.status}, ${typeOf(answer)}, ${html.includes('href="peer-lib/"') ? "peer-lib/" : "another link"}`;
    },
  },
  {
    title: "the list of projects, JSON",
    async ask(place) {
      const answer = await ask(place, `${of(place).simple}/`, { headers: { accept: JSON_TYPE } });
      const { projects = [] } = jsonOf<{ projects: { name: string }[] }>(answer);
      return `${answer.status}, ${typeOf(answer)}, ${projects.map(({ name }) => name).join(" ")}`;
    },
  },
  {
    title: "page of a project, without an Accept header",
    async ask(place) {
      const answer = await ask(place, page(place, "peer-lib/"));
      return `${answer.status}, ${typeOf(answer)}, ${await attributes(place)}`;
    },
    because: "with the metadata beside the wheels (PEP 658, 714) a resolver reads kilobytes in place of wheels",
  },
  {
    title: "page, with the Accept header of pip",
    async ask(place) {
      const answer = await ask(place, page(place, "peer-lib/"), { headers: { accept: PIP_ACCEPT } });
      return `${answer.status}, ${typeOf(answer)}`;
    },
  },
  {
    title: "page, JSON: its name, versions and API version",
    async ask(place) {
      const { name, versions = ["no list of versions"], meta } = await project(place);
      return `${name}, ${versions.join(" ")}, ${meta?.["api-version"]}`;
    },
    because: "PEP 700 asks for the list of versions, and makes it version 1.1 at least",
  },
  {
    title: "page, JSON: the fields of the wheel",
    async ask(place) {
      const file = await wheelFile(place);
      const hashes = Object.keys(file.hashes).join(" ");
      const rest = Object.keys(file).filter((key) => !["filename", "url", "hashes"].includes(key));
      return [`hashes ${hashes}`, ...rest.toSorted()].join(", ");
    },
    because: "PEP 592, 658, 700, 714 and 740: `uv --exclude-newer` takes upload-time, and pip chooses no yanked file",
  },
  {
    title: "page, `Accept: application/xml`",
    ask: (place) => statusOf(place, page(place, "peer-lib/"), { headers: { accept: "application/xml" } }),
    because: "PEP 691: 406 where nothing that is accepted is there",
  },
  {
    title: "page, once more",
    ask: async (place) => again(place, page(place, "peer-lib/"), await ask(place, page(place, "peer-lib/"))),
    because: "pip and uv ask again with what they have kept",
  },
  {
    title: "page, `Accept-Encoding: gzip`",
    async ask(place) {
      const { headers } = await ask(place, page(place, "peer-lib/"), { headers: { "accept-encoding": "gzip" } });
      return headers["content-encoding"] ?? "not compressed";
    },
    because: "a page of many files is a tenth in gzip, made once",
  },
  {
    title: "page, without the slash at its end",
    ask: async (place) => moved(await ask(place, page(place, "peer-lib"))),
    because: "the page moved for ever; what is sent is the same",
  },
  {
    title: "page of `Peer_Lib` and `peer.lib`",
    ask: (place) => each(["Peer_Lib/", "peer.lib/"], async (name) => moved(await ask(place, page(place, name)))),
    because: "PEP 503 asks for a redirect and says 301",
  },
  { title: "page of a project that is not there", ask: (place) => statusOf(place, page(place, "nowhere/")) },
  {
    title: "page of `..%2fpeer-lib`, `peer-lib%00`, `pееr-lib` in Cyrillic",
    ask: (place) =>
      each(["..%2fpeer-lib/", "peer-lib%00/", `${encodeURIComponent("pееr-lib")}/`], async (name) =>
        moved(await ask(place, page(place, name))),
      ),
    because: "names that can be none are not there",
  },
  {
    title: "page, without credentials",
    ask: (place) => statusOf(place, page(place, "peer-lib/"), { anonymous: true }),
    because: "devpi serves everybody, unless a plugin says otherwise",
  },
  {
    title: "page, how long it may be kept",
    async ask(place) {
      const { headers } = await ask(place, page(place, "peer-lib/"));
      return headers["cache-control"] ?? "nothing said";
    },
    because: "what one may read another may not: shared caches must keep nothing of it",
  },
  {
    title: "the wheel",
    async ask(place) {
      const { url, hashes } = await wheelFile(place);
      const answer = await ask(place, url);
      const sum = createHash("sha256").update(answer.body).digest("hex");
      return `${answer.status}, ${typeOf(answer)}, ${sum === hashes["sha256"] ? "as announced" : "another one"}`;
    },
  },
  {
    title: "the wheel, once more",
    async ask(place) {
      const { url } = await wheelFile(place);
      return again(place, url, await ask(place, url));
    },
    because: "the ETag is the content's digest: a client that has it gets no second copy",
  },
  {
    title: "the wheel, HEAD",
    async ask(place) {
      const { url } = await wheelFile(place);
      const answer = await ask(place, url, { method: "HEAD" });
      return `${answer.status}, ${Number(answer.headers["content-length"]) === WHEEL.bytes.length ? "its length" : "another length"}`;
    },
  },
  {
    title: "the wheel, its first ten bytes, and from beyond its end",
    async ask(place) {
      const { url } = await wheelFile(place);
      return each(["bytes=0-9", "bytes=999999999-"], async (range) => {
        const { status, body } = await ask(place, url, { headers: { range } });
        return status === 206 ? `206 with ${body.length}` : String(status);
      });
    },
    because:
      "uv and pip (with `fast-deps`) read a wheel's metadata from its end, and go on with a download that was cut off",
  },
  {
    title: "the metadata beside the wheel",
    async ask(place) {
      const { url } = await wheelFile(place);
      const answer = await ask(place, `${url}.metadata`);
      return answer.status === 200 && answer.body.toString() === WHEEL.metadata
        ? "200, the wheel's"
        : String(answer.status);
    },
    because: "as above: PEP 658",
  },
  {
    title: "a file that is not there",
    async ask(place) {
      const { url } = await wheelFile(place);
      return statusOf(place, url.replace("-1.0-", "-9.9-"));
    },
  },
];
