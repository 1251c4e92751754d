//! What the order desk knows: three customers and nine orders.

/// A customer of the order desk.
#[derive(Debug)]
pub(super) struct Customer {
    pub(super) id: &'static str,
    pub(super) name: &'static str,
    pub(super) email: &'static str,
    pub(super) phone: &'static str,
}

/// An order; amounts are in cents so that they add up.
#[derive(Debug)]
pub(super) struct Order {
    pub(super) id: u64,
    pub(super) customer: &'static str,
    pub(super) placed: &'static str,
    pub(super) status: &'static str,
    pub(super) items: &'static str,
    pub(super) cents: u64,
}

pub(super) const CUSTOMERS: [Customer; 3] = [
    Customer {
        id: "c1",
        name: "Mara Lindqvist",
        email: "mara@example.com",
        phone: "+46 8 555 01 12",
    },
    Customer {
        id: "c2",
        name: "Tomas Okafor",
        email: "tomas@example.com",
        phone: "+44 20 5550 0143",
    },
    Customer {
        id: "c3",
        name: "Ines Duarte",
        email: "ines@example.com",
        phone: "+351 21 555 0187",
    },
];

pub(super) const ORDERS: [Order; 9] = [
    order(1009, "c2", "2026-08-30", "delivered", "kettle", 3_900),
    order(1012, "c1", "2026-09-04", "delivered", "desk lamp", 4_000),
    order(1015, "c3", "2026-09-19", "delivered", "two chairs", 17_800),
    order(1017, "c1", "2026-10-02", "shipped", "bookshelf", 6_450),
    order(1018, "c2", "2026-10-05", "cancelled", "rug", 8_900),
    order(1021, "c1", "2026-10-21", "delivered", "wall clock", 2_500),
    order(1024, "c1", "2026-11-03", "processing", "armchair", 21_000),
    order(1027, "c3", "2026-11-12", "shipped", "mirror", 5_400),
    order(1030, "c1", "2026-11-25", "shipped", "side table", 7_600),
];

const fn order(
    id: u64,
    customer: &'static str,
    placed: &'static str,
    status: &'static str,
    items: &'static str,
    cents: u64,
) -> Order {
    Order {
        id,
        customer,
        placed,
        status,
        items,
        cents,
    }
}

/// Returns a customer's orders, oldest first.
pub(super) fn orders_of(customer: &str) -> impl Iterator<Item = &'static Order> {
    ORDERS
        .iter()
        .filter(move |order| order.customer == customer)
}
