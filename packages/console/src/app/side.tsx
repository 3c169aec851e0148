import { Link } from "@tanstack/react-router";
import { ChevronDown, ChevronRight, PanelLeft, Search, X } from "lucide-react";
import { useEffect, useState } from "react";
import { Button } from "../ui/button.tsx";
import { DataAge } from "./data-age.tsx";
import { FIRST_PLACES, type NavPlace, PLACES, whereIs } from "./nav.ts";
import styles from "./side.module.css";
import { AccountMenu, OrganizationMenu } from "./side-menus.tsx";
import { readStored, store } from "../lib/storage.ts";

const OPEN = "nav";
// The router marks a link as the page, too, which those above a page are not.
const EXACT = { exact: true, includeSearch: false };

export interface SideProps {
  pathname: string;
  /** Whether it shows icons alone. */
  isNarrow: boolean;
  onNarrow: () => void;
  /** Whether it lies over the page of a phone. */
  isOpen: boolean;
  onClose: () => void;
  onSearch: () => void;
}

/** The navigation at the side; on a phone it lies over the page while it is open. */
export function Side({ pathname, isNarrow, onNarrow, isOpen, onClose, onSearch }: SideProps) {
  const here = whereIs(pathname)?.place;
  const [open, setOpen] = useState(() => (here?.items === undefined ? readStored(OPEN) : here.label));
  useEffect(() => {
    if (here?.items !== undefined) setOpen(here.label);
  }, [here]);
  const toggle = (label: string): void => {
    const next = open === label && !isNarrow ? undefined : label;
    setOpen(next);
    store(OPEN, next);
    if (isNarrow) onNarrow();
  };
  const fold = isNarrow ? "Expand the navigation" : "Collapse the navigation";
  return (
    <nav
      className={`${styles.side} ${isNarrow ? styles.narrow : ""}`}
      aria-label="Pages"
      data-open={isOpen || undefined}
      onKeyDown={(event) => event.key === "Escape" && onClose()}
    >
      <div className={styles.top}>
        <OrganizationMenu />
        <Button
          look="quiet"
          className={styles.fold ?? ""}
          aria-label={fold}
          title={`${fold}, Ctrl B`}
          onClick={onNarrow}
          icon={<PanelLeft size={16} aria-hidden />}
        />
        <Button
          look="quiet"
          className={styles.close ?? ""}
          aria-label="Close the navigation"
          onClick={onClose}
          icon={<X size={20} aria-hidden />}
        />
      </div>
      <button type="button" className={styles.find} title="Search or jump to" onClick={onSearch}>
        <Search size={16} aria-hidden />
        <span>Search or jump to</span>
        <kbd>Ctrl K</kbd>
      </button>
      <div className={styles.nav}>
        <ul>
          {PLACES.map((place, at) => (
            <li key={place.label} className={at === FIRST_PLACES ? styles.gap : undefined}>
              {place.items === undefined ? (
                <Entry place={place} isHere={place === here} />
              ) : (
                <Group
                  place={place}
                  pathname={pathname}
                  isHere={place === here}
                  isOpen={open === place.label && !isNarrow}
                  onToggle={() => toggle(place.label)}
                />
              )}
            </li>
          ))}
        </ul>
      </div>
      <div className={styles.foot}>
        <DataAge />
        <AccountMenu />
      </div>
    </nav>
  );
}

function Entry({ place: { to, label, icon: Icon }, isHere }: { place: NavPlace; isHere: boolean }) {
  return (
    <Link
      to={to}
      search={ofGroup}
      activeOptions={EXACT}
      title={label}
      className={`${styles.entry} ${isHere ? styles.on : ""}`}
      aria-current={isHere ? "page" : undefined}
    >
      <Icon size={16} strokeWidth={1.75} aria-hidden />
      <span>{label}</span>
    </Link>
  );
}

interface GroupProps {
  place: NavPlace;
  pathname: string;
  isHere: boolean;
  isOpen: boolean;
  onToggle: () => void;
}

function Group({ place, pathname, isHere, isOpen, onToggle }: GroupProps) {
  const { label, icon: Icon, items = [] } = place;
  const Chevron = isOpen ? ChevronDown : ChevronRight;
  const here = whereIs(pathname)?.item;
  return (
    <>
      <button
        type="button"
        className={`${styles.entry} ${isHere && !isOpen ? styles.on : ""}`}
        title={label}
        aria-label={label}
        aria-expanded={isOpen}
        onClick={onToggle}
      >
        <Icon size={16} strokeWidth={1.75} aria-hidden />
        <span>{label}</span>
        <Chevron size={14} aria-hidden />
      </button>
      {isOpen && (
        <ul className={styles.sub}>
          {items.map((item) => (
            <li key={item.to}>
              <Link
                to={item.to}
                search={ofGroup}
                activeOptions={EXACT}
                className={`${styles.entry} ${item === here ? styles.on : ""}`}
                aria-current={item === here ? "page" : undefined}
              >
                {item.label}
              </Link>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

/** The group that is looked at goes along to the other pages; those that are not about groups drop it. */
export function ofGroup({ group }: { group?: string }): { group?: string } {
  return group === undefined ? {} : { group };
}
