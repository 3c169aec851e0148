import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** What an upstream answers: a body, or pieces of one. */
export interface UpstreamBody {
  type: string;
  body: Iterable<string> | Uint8Array;
}

/** A registry of others on loopback whose documents are made when they are asked for. It ends with its process. */
export interface HeavyUpstream {
  url: string;
  /** What is answered to a path, percent-decoded, from now on; undefined for 404. */
  answer(by: (path: string) => UpstreamBody | undefined): void;
  /** How often paths were asked for. */
  asked: Map<string, number>;
}

let started: Promise<HeavyUpstream> | undefined;

/** The upstream of this process. */
export function heavyUpstream(): Promise<HeavyUpstream> {
  return (started ??= start());
}

async function start(): Promise<HeavyUpstream> {
  let answerTo = (_path: string): UpstreamBody | undefined => undefined;
  const asked: HeavyUpstream["asked"] = new Map();
  const server = createServer((req, res) => {
    const path = decodeURIComponent(req.url ?? "");
    asked.set(path, (asked.get(path) ?? 0) + 1);
    const found = answerTo(path);
    if (found === undefined) return void res.writeHead(404).end();
    res.writeHead(200, { "content-type": found.type });
    if (found.body instanceof Uint8Array) return void res.end(found.body);
    const pieces = found.body[Symbol.iterator]();
    const write = (): void => {
      for (let next = pieces.next(); ; next = pieces.next()) {
        if (next.done === true) return void res.end();
        if (!res.write(next.value)) return void res.once("drain", write);
      }
    };
    write();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  server.unref();
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    answer(by) {
      answerTo = by;
    },
  };
}
