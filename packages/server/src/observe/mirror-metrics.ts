import { Counter, Gauge, type Registry } from "prom-client";

/** The copying of images from elsewhere. Outcomes and kinds: from bounded sets. */
export interface MirrorMetrics {
  /** A turn of a repo begins, and ends. */
  begin(): void;
  end(outcome: string): void;
  /** A manifest was stored. */
  manifest(): void;
  /** Bytes of blobs came. */
  received(bytes: number): void;
  /** Something was asked for at a source because somebody pulled it. */
  pulled(kind: string, outcome: string): void;
  /** For how long the repo that waits longest for its turn has been due, in milliseconds. */
  late(ms: number): void;
}

/** Starts counting it. */
export function mirrorMetrics(registry: Registry): MirrorMetrics {
  const registers = [registry];
  const turns = new Counter({
    name: "moorage_mirror_turns_total",
    help: "Turns of repos that are copied from elsewhere.",
    labelNames: ["outcome"],
    registers,
  });
  const underWay = new Gauge({ name: "moorage_mirror_turns_in_flight", help: "Turns that are under way.", registers });
  const manifests = new Counter({
    name: "moorage_mirror_manifests_total",
    help: "Manifests copied from elsewhere.",
    registers,
  });
  const received = new Counter({
    name: "moorage_mirror_received_bytes_total",
    help: "Bytes of blobs that came from elsewhere.",
    registers,
  });
  const pulls = new Counter({
    name: "moorage_mirror_pulls_total",
    help: "Manifests and blobs asked for elsewhere because somebody pulled them.",
    labelNames: ["kind", "outcome"],
    registers,
  });
  const late = new Gauge({
    name: "moorage_mirror_late_seconds",
    help: "For how long the repo that waits longest for its turn has been due.",
    registers,
    aggregator: "max",
  });
  return {
    begin: () => underWay.inc(),
    end(outcome) {
      underWay.dec();
      turns.inc({ outcome });
    },
    manifest: () => manifests.inc(),
    received: (bytes) => received.inc(bytes),
    pulled: (kind, outcome) => pulls.inc({ kind, outcome }),
    late: (ms) => late.set(ms / 1000),
  };
}
