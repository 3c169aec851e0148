import { getRouteApi } from "@tanstack/react-router";
import { localTime, timeOfLocal } from "../../../../lib/local-time.ts";
import { Button } from "../../../../ui/button.tsx";
import { TextField } from "../../../../ui/field.tsx";
import { Note } from "../../../../ui/note.tsx";
import { Time } from "../../../../ui/time.tsx";
import styles from "../image.module.css";
import type { Chosen } from "../platforms.ts";
import { Decision } from "./decision.tsx";
import { SignatureList } from "./signature-list.tsx";

const route = getRouteApi("/shell/image");

/** Who signed an image, what for, since when, and whether that holds: now, or as of a time. */
export function Signatures({ chosen: { place, digest } }: { chosen: Chosen }) {
  const { asOf } = route.useSearch();
  const isIndex = digest !== place.digest;
  return (
    <>
      <AsOf asOf={asOf} />
      {asOf === undefined ? (
        <Decision place={place} digest={place.digest} />
      ) : (
        <Note>
          As of <Time value={asOf} />: what was attached and known then. Policy results are current only, and not shown.
        </Note>
      )}
      <SignatureList
        title={isIndex ? "Signatures of the index" : "Signatures"}
        place={place}
        digest={place.digest}
        asOf={asOf}
      />
      {isIndex && (
        <SignatureList title="Signatures of the platform's image" place={place} digest={digest} asOf={asOf} />
      )}
    </>
  );
}

/** Of which time the signatures are shown. It is in the address. */
function AsOf({ asOf }: { asOf: string | undefined }) {
  const navigate = route.useNavigate();
  const set = (value: string | undefined): void =>
    void navigate({ search: (before) => ({ ...before, asOf: value }), replace: true, resetScroll: false });
  return (
    <div className={styles.filters}>
      <TextField
        label="As of"
        type="datetime-local"
        value={localTime(asOf)}
        onChange={({ target }) => set(timeOfLocal(target.value))}
        help="Empty: now"
      />
      {asOf !== undefined && <Button onClick={() => set(undefined)}>Now</Button>}
    </div>
  );
}
