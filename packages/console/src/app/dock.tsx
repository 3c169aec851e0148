import { Link } from "@tanstack/react-router";
import { Ellipsis } from "lucide-react";
import { FIRST_PLACES, PLACES, whereIs } from "./nav.ts";
import { ofGroup } from "./side.tsx";
import styles from "./side.module.css";

/** At the foot of a phone: the first places, and a button for the rest. */
export function Dock({ pathname, isOpen, onMore }: { pathname: string; isOpen: boolean; onMore: () => void }) {
  const here = whereIs(pathname)?.place;
  return (
    <nav className={styles.dock} aria-label="Main pages">
      {PLACES.slice(0, FIRST_PLACES).map((place) => (
        <Link
          key={place.to}
          to={place.to}
          search={ofGroup}
          activeOptions={{ exact: true, includeSearch: false }}
          aria-current={place === here ? "page" : undefined}
        >
          <place.icon size={20} strokeWidth={1.75} aria-hidden />
          {place.label}
        </Link>
      ))}
      <button type="button" aria-expanded={isOpen} onClick={onMore}>
        <Ellipsis size={20} strokeWidth={1.75} aria-hidden />
        More
      </button>
    </nav>
  );
}
