import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Parser, type ReadEntry } from "tar";

/** A request for a scan, as the scanner adapter API has it. */
export interface ScanAsked {
  registry: { url: string; authorization: string };
  artifact: { repository: string; digest: string; tag?: string; mime_type: string };
  enabled_capabilities: { type: string; produces_mime_types: string[]; parameters?: { sbom_media_types: string[] } }[];
}

/** A package that the adapter has found in a layer. */
interface Found {
  name: string;
  version: string;
}

interface Job {
  asked: ScanAsked;
  /** Undefined until the image has been pulled. */
  found?: Found[];
  /** Why it could not be pulled. */
  error?: string;
}

/**
 * A scanner adapter on loopback: it pulls the manifest and the layers of what it is asked for, with what it was given,
 * and reports the packages of npm in them that it knows to be vulnerable.
 */
export interface ScannerAdapter {
  url: string;
  /** All that it was asked, in order. */
  asked: ScanAsked[];
  /** The headers of all requests, in order. */
  headers: IncomingHttpHeaders[];
  /** What it says of itself. */
  metadata: Record<string, unknown>;
  /** Called with each request first. Returns true when it has answered it. */
  intercept: (req: IncomingMessage, res: ServerResponse) => boolean;
  close(): Promise<void>;
}

export const OCI_IMAGE = "application/vnd.oci.image.manifest.v1+json";
export const VULNERABILITIES = "application/vnd.security.vulnerability.report; version=1.1";
export const SBOM = "application/vnd.security.sbom.report+json; version=1.0";
const SCANNER = { name: "Test Scanner", vendor: "Tests", version: "1.2.3" };
const TIMEOUT_MS = 60_000;

/** What it knows, by the name of the package. */
const KNOWN: Readonly<Record<string, object[]>> = {
  "left-pad": [{ id: "CVE-2026-1001", severity: "Critical", fix_version: "1.3.1", preferred_cvss: { score_v3: 9.8 } }],
  lodash: [
    {
      id: "CVE-2026-1002",
      severity: "Medium",
      fix_version: "",
      links: ["javascript:alert(1)", "https://example.com/CVE-2026-1002"],
    },
    { id: "CVE-2026-1003", severity: "Negligible", description: "Hardly\nanything." },
    { id: "CVE-2026-1004", severity: "Curious" },
  ],
};

export function capability(type: string, produces: string, more: object = {}): object {
  return { type, consumes_mime_types: [OCI_IMAGE], produces_mime_types: [produces], ...more };
}

/** Starts it on a free port. It does not keep the process from ending. */
export async function startAdapter(): Promise<ScannerAdapter> {
  const jobs = new Map<string, Job>();
  const answer = (res: ServerResponse, status: number, type: string, body: unknown, headers = {}): void => {
    res.writeHead(status, { "content-type": type, ...headers });
    res.end(body === undefined ? undefined : JSON.stringify(body));
  };
  const report = (res: ServerResponse, id: string, accept: string): void => {
    const job = jobs.get(id);
    if (job === undefined) return answer(res, 404, "text/plain", undefined);
    const error = "application/vnd.scanner.adapter.error+json; version=1.0";
    if (job.error !== undefined) return answer(res, 500, error, { error: { message: job.error } });
    if (job.found === undefined)
      return answer(res, 302, "text/plain", undefined, { "refresh-after": "1", location: "." });
    answer(res, 200, accept, accept === SBOM ? sbomOf(job) : vulnerabilitiesOf(job.asked, job.found));
  };
  const handle = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    adapter.headers.push(req.headers);
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    if (adapter.intercept(req, res)) return;
    const [, id] = /^\/api\/v1\/scan\/([^/]+)\/report$/.exec(req.url?.split("?")[0] ?? "") ?? [];
    if (id !== undefined) return report(res, id, req.headers.accept ?? "");
    if (req.url === "/api/v1/metadata")
      return answer(res, 200, "application/vnd.scanner.adapter.metadata+json; version=1.1", adapter.metadata);
    const asked = JSON.parse(Buffer.concat(chunks).toString()) as ScanAsked;
    adapter.asked.push(asked);
    const job: Job = { asked };
    const made = `scan ${adapter.asked.length}`;
    jobs.set(encodeURIComponent(made), job);
    answer(res, 202, "application/vnd.scanner.adapter.scan.response+json; version=1.0", { id: made });
    pull(asked).then(
      (found) => void (job.found = found),
      (error: unknown) => void (job.error = String(error)),
    );
  };
  const server = createServer((req, res) => {
    handle(req, res).catch((error: unknown) => {
      res.destroy();
      console.error(error);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  server.unref();
  const adapter: ScannerAdapter = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: [],
    headers: [],
    metadata: { scanner: SCANNER, capabilities: [capability("vulnerability", VULNERABILITIES)], properties: {} },
    intercept: () => false,
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  return adapter;
}

/** Pulls the image with what it was given, and reads which packages of npm lie in its layers. */
async function pull({ registry, artifact }: ScanAsked): Promise<Found[]> {
  const get = async (path: string, accept: string): Promise<Buffer> => {
    const answer = await fetch(`${registry.url}/v2/${artifact.repository}/${path}`, {
      headers: { authorization: registry.authorization, accept },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return Buffer.from(await answer.arrayBuffer());
  };
  const manifest = JSON.parse((await get(`manifests/${artifact.digest}`, artifact.mime_type)).toString()) as {
    layers: { digest: string }[];
  };
  const found: Found[] = [];
  for (const { digest } of manifest.layers) found.push(...(await packagesIn(await get(`blobs/${digest}`, "*/*"))));
  return found;
}

async function packagesIn(layer: Buffer): Promise<Found[]> {
  const found: Found[] = [];
  await new Promise<void>((resolve, reject) => {
    const parser = new Parser({
      onReadEntry(entry: ReadEntry) {
        const chunks: Buffer[] = [];
        entry.on("data", (chunk: Buffer) => void chunks.push(chunk));
        entry.on("end", () => {
          if (entry.path.endsWith("/package.json")) found.push(JSON.parse(Buffer.concat(chunks).toString()) as Found);
        });
      },
    });
    parser.on("end", () => resolve());
    parser.on("error", reject);
    parser.end(layer);
  });
  return found;
}

function vulnerabilitiesOf(asked: ScanAsked, found: readonly Found[]): object {
  return {
    generated_at: "2026-11-22T08:15:30Z",
    artifact: asked.artifact,
    scanner: SCANNER,
    severity: "Critical",
    vulnerabilities: found.flatMap(({ name, version }) =>
      (KNOWN[name] ?? []).map((each) => ({ package: name, version, ...each })),
    ),
  };
}

function sbomOf({ asked, found = [] }: Job): object {
  const [mediaType = ""] = asked.enabled_capabilities.flatMap(({ parameters }) => parameters?.sbom_media_types ?? []);
  // Something that the layers do not show.
  const all = [...found, { name: "vendored", version: "2.0.0" }];
  const components = all.map(({ name, version }) => ({
    type: "library",
    name,
    version,
    purl: `pkg:npm/${name}@${version}`,
  }));
  return {
    generated_at: "2026-11-22T08:15:30Z",
    artifact: asked.artifact,
    scanner: SCANNER,
    media_type: mediaType,
    sbom: { bomFormat: "CycloneDX", specVersion: "1.6", version: 1, components },
  };
}
