/** A page of the navigation. */
interface NavItem {
  to: string;
  label: string;
}

/** A group of the navigation. */
export interface NavGroup {
  label: string;
  items: readonly NavItem[];
}
