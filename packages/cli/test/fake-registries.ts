// Fakes of the own APIs of Harbor and Quay, written from their published descriptions (Harbor's api/v2.0/swagger.yaml,
// Quay's endpoints/api): they are no Harbor and no Quay. The images are those of a Moorage behind them.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { TestContext } from "node:test";
import { type Front, startFront } from "../../server/test/support/upstream.ts";

/** An artifact as Harbor lists it. */
interface HarborArtifact {
  digest: string;
  push_time: string;
  tags: { name: string; push_time: string }[] | null;
  pull_time?: string;
  /** Answered when they are asked for. */
  labels?: unknown;
}

/** A project of Harbor with its repositories, by name without the project's. */
export interface HarborProject {
  name: string;
  project_id: number;
  registry_id?: number;
  /** Its immutable tag rules, and the bytes of its quota; -1: no limit. */
  rules?: object[];
  storage?: number;
  robots?: object[];
  members?: object[];
  /** Its settings, in texts, and the vulnerabilities that it lets pass. */
  metadata?: Record<string, string>;
  cve_allowlist?: object;
  webhooks?: unknown[];
  /** Its rules of retention, of which the number is that of the project. */
  retention?: object;
  repositories: Record<string, HarborArtifact[]>;
}

/** A life of a tag as Quay lists it; times in seconds. */
export interface QuayTag {
  name: string;
  start_ts: number;
  end_ts?: number;
  manifest_digest: string;
}

function send(res: ServerResponse, body: unknown, status = 200): true {
  res.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  return true;
}

/** What Harbor answers of a list: a page, with how many there are in all. */
function page(url: URL, res: ServerResponse, all: readonly unknown[]): true {
  const [number, size] = [Number(url.searchParams.get("page")), Number(url.searchParams.get("page_size"))];
  res.setHeader("x-total-count", String(all.length));
  return send(res, all.slice((number - 1) * size, number * size));
}

/** What Harbor has beside projects; people, groups and registries by their numbers. */
export interface HarborSystem {
  users?: Record<number, object>;
  usergroups?: Record<number, object>;
  registries?: Record<number, object>;
  replications?: unknown[];
  /** The vulnerabilities that all projects let pass that have no list of their own. */
  allowlist?: object;
}

/** A fake Harbor in front of the Moorage at `content`. Its API wants a name and a password. */
export async function startFakeHarbor(
  t: TestContext,
  content: string,
  projects: HarborProject[],
  { users = {}, usergroups = {}, registries = {}, replications = [], allowlist = { items: [] } }: HarborSystem = {},
): Promise<Front> {
  const front = await startFront(t, content);
  front.intercept = (req: IncomingMessage, res: ServerResponse) => {
    const url = new URL(req.url ?? "", front.url);
    if (!url.pathname.startsWith("/api/v2.0/")) return false;
    if (req.headers.authorization?.startsWith("Basic ") !== true) return send(res, { errors: [] }, 401);
    const parts = url.pathname.slice("/api/v2.0/".length).split("/").map(decodeURIComponent);
    const [, name = "", , repository = "", last] = parts;
    const project = projects.find((each) => each.name === name);
    const quota = url.searchParams.get("reference_id");
    if (quota !== null) {
      const of = projects.find(({ project_id }) => project_id === Number(quota));
      return page(url, res, [{ id: 1, ref: { id: of?.project_id }, hard: { storage: of?.storage ?? -1 } }]);
    }
    if (parts[0] === "robots") {
      const [, id] = /^Level=project,ProjectID=(\d+)$/.exec(url.searchParams.get("q") ?? "") ?? [];
      return page(url, res, projects.find(({ project_id }) => project_id === Number(id))?.robots ?? []);
    }
    if (url.pathname.endsWith("/system/CVEAllowlist")) return send(res, allowlist);
    if (url.pathname.endsWith("/replication/policies")) return page(url, res, replications);
    const numbered = { users, usergroups, registries }[parts[0] ?? ""];
    if (numbered !== undefined) {
      const found = numbered[Number(name)];
      return found === undefined ? send(res, { errors: [] }, 404) : send(res, found);
    }
    if (parts[0] === "retentions")
      return send(res, projects.find(({ project_id }) => project_id === Number(name))?.retention ?? {});
    if (parts[2] === "members")
      return page(url, res, projects.find(({ project_id }) => project_id === Number(name))?.members ?? []);
    if (parts[2] === "immutabletagrules")
      return page(url, res, projects.find(({ project_id }) => project_id === Number(name))?.rules ?? []);
    if (parts[2] === "webhook")
      return page(url, res, projects.find(({ project_id }) => project_id === Number(name))?.webhooks ?? []);
    if (parts.length === 2 && project !== undefined) {
      const { project_id, registry_id, cve_allowlist } = project;
      const metadata = { ...project.metadata, ...(project.retention && { retention_id: String(project_id) }) };
      return send(res, { name, project_id, registry_id, cve_allowlist, metadata });
    }
    if (parts.length === 1)
      return page(
        url,
        res,
        projects.map(({ name, registry_id }) => ({ name, registry_id })),
      );
    if (project === undefined) return send(res, { errors: [] }, 404);
    if (last === undefined)
      return page(
        url,
        res,
        Object.keys(project.repositories).map((each) => ({ name: `${name}/${each}` })),
      );
    const artifacts = project.repositories[decodeURIComponent(repository)] ?? [];
    const isLabeled = url.searchParams.get("with_label") === "true";
    return page(url, res, isLabeled ? artifacts : artifacts.map((each) => ({ ...each, labels: undefined })));
  };
  return front;
}

/**
 * A fake Quay in front of the Moorage at `content`. Its API wants a token; a page has two tags. `answers`: whatever
 * else it answers, by the paths below the API; robots only without their passwords. `open`: what is public.
 */
export async function startFakeQuay(
  t: TestContext,
  content: string,
  repositories: Record<string, QuayTag[]>,
  answers: Record<string, unknown> = {},
  open: readonly string[] = [],
): Promise<Front> {
  const front = await startFront(t, content);
  front.intercept = (req: IncomingMessage, res: ServerResponse) => {
    const url = new URL(req.url ?? "", front.url);
    if (!url.pathname.startsWith("/api/v1/")) return false;
    if (req.headers.authorization?.startsWith("Bearer ") !== true) return send(res, { message: "no token" }, 401);
    const namespace = url.searchParams.get("namespace");
    if (namespace !== null) {
      const names = Object.keys(repositories).filter((each) => each.startsWith(`${namespace}/`));
      const at = Number(url.searchParams.get("next_page") ?? 0);
      const [name = ""] = names.slice(at);
      const found = {
        namespace,
        name: name.slice(namespace.length + 1),
        kind: "image",
        is_public: open.includes(name),
      };
      return send(res, { repositories: [found], ...(at + 1 < names.length && { next_page: String(at + 1) }) });
    }
    const path = url.pathname.slice("/api/v1/".length);
    if (path.endsWith("/robots") && url.searchParams.get("token") !== "false") return send(res, "passwords", 500);
    if (!path.endsWith("/tag/"))
      return path in answers ? send(res, answers[path]) : send(res, { message: "not found" }, 404);
    const [, name = ""] = /^\/api\/v1\/repository\/(.+)\/tag\/$/.exec(url.pathname) ?? [];
    const number = Number(url.searchParams.get("page"));
    const tags = repositories[name] ?? [];
    const has_additional = tags.length > number * 2;
    return send(res, { tags: tags.slice((number - 1) * 2, number * 2), page: number, has_additional });
  };
  return front;
}
