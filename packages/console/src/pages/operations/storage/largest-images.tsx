import type { GroupStorage } from "../../../api/gen/registry.ts";
import { bytes, counted } from "../../../lib/bytes.ts";
import { BarList } from "../../../ui/bar-list.tsx";
import { Panel, PanelBody } from "../../../ui/panel.tsx";
import styles from "./storage-page.module.css";
import { sumOf } from "./storage-sums.ts";

const SHOWN = 10;

/** The images of the rows with the most bytes. `isWhole`: whether all content of all rows was counted. */
export function LargestImages({ rows, isWhole }: { rows: readonly GroupStorage[]; isWhole: boolean }) {
  const largest = rows
    .flatMap(({ largestRepos }) => largestRepos)
    .toSorted((one, other) => Number(other.blobBytes) - Number(one.blobBytes))
    .slice(0, SHOWN);
  if (largest.length === 0) return null;
  const all = sumOf(rows, "repos");
  return (
    <Panel title="Largest images">
      <PanelBody>
        <div className={styles.body}>
          <BarList
            bars={largest.map(({ repoUid, name, blobBytes }) => ({
              id: repoUid,
              label: name === "" ? "deleted meanwhile" : <a href={`/repo?name=${encodeURIComponent(name)}`}>{name}</a>,
              value: Number(blobBytes),
              text: bytes(blobBytes),
            }))}
          />
          <p className={styles.quiet}>
            {largest.length} of {counted(all, "image")}
            {isWhole ? "" : ", of what was counted: others may be larger"}
          </p>
        </div>
      </PanelBody>
    </Panel>
  );
}
