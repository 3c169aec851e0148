import type { GroupStorage } from "../../../api/gen/registry.ts";
import { bytes, count, counted } from "../../../lib/bytes.ts";
import { StatTile, StatTiles } from "../../../ui/stat-tile.tsx";
import { sharedOf, sumOf } from "./storage-sums.ts";

/** Sums of the rows. `isWhole`: whether these are all rows there are. */
export function StorageTiles({ rows, isWhole }: { rows: readonly GroupStorage[]; isWhole: boolean }) {
  const isCounted = !rows.some(({ truncated }) => truncated);
  const content = isWhole && isCounted ? "" : "at least; ";
  const shown = isWhole ? "" : `in the first ${counted(rows.length, "row")}; `;
  const shared = sharedOf(rows);
  return (
    <StatTiles>
      <StatTile
        label="Layers and configs"
        value={bytes(sumOf(rows, "blobBytes"))}
        note={content + sharedNote(shared)}
      />
      <StatTile
        label="Packages"
        value={bytes(sumOf(rows, "libraryBytes"))}
        note={content + counted(sumOf(rows, "libraries"), "package")}
      />
      <StatTile label="Images" value={count(sumOf(rows, "repos"))} note={shown + counted(sumOf(rows, "tags"), "tag")} />
      <StatTile
        label="Manifests"
        value={count(sumOf(rows, "manifests"))}
        note={content + bytes(sumOf(rows, "manifestBytes"))}
      />
    </StatTiles>
  );
}

/** What the sum of the rows counts several times. */
function sharedNote(shared: number | undefined): string {
  if (shared === undefined) return "shared content counts in each organization";
  return shared === 0 ? "no content in more than one row" : "shared content counts in each row";
}
