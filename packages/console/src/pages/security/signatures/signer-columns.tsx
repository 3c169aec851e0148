import { Link } from "@tanstack/react-router";
import type { Signer } from "../../../api/gen/registry.ts";
import { parentUid } from "../../../lib/uid.ts";
import type { Column } from "../../../ui/column.ts";
import { Place } from "../../access/parts/place.tsx";
import { knownBy } from "./key-words.ts";

/** What each list of signers says of one: its name, its group and by what it is known. */
export const SIGNER_COLUMNS: readonly Column<Signer>[] = [
  {
    id: "name",
    header: "Signer",
    orderBy: "name",
    cell: ({ uid, name }) => (
      <Link to="/signatures/signer" search={{ uid }}>
        {name}
      </Link>
    ),
  },
  { id: "group", header: "Group", cell: ({ uid }) => <Place uid={parentUid(uid)} /> },
  { id: "by", header: "Known by", isMinor: true, cell: knownBy },
];
