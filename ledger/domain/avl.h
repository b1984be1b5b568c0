#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

namespace holdfast {

template <class T>
struct AvlLinks {
  T* left = nullptr;
  T* right = nullptr;
  std::int32_t height = 1;
};

// An intrusive AVL tree (Adelson-Velsky, Landis 1962) with an augmentation: nodes carry their
// links, the tree owns nothing. Height stays below 1.45 log2(n) whatever the order of insertions,
// so that no client can choose keys that make it slow.
//
// Traits:
//   static AvlLinks<T>& links(T&)
//   static bool before(const T&, const T&)   a strict order in which no two nodes are equal
//   static void pull(T&)                     recompute the node's augmentation from its children
template <class T, class Traits>
class Avl {
 public:
  bool empty() const { return root_ == nullptr; }
  T* root() const { return root_; }

  T* first() const {
    T* node = root_;
    while (node != nullptr && left(node) != nullptr) node = left(node);
    return node;
  }

  void insert(T& node) {
    Traits::links(node) = {};
    insert_below(root_, node);
  }

  // Requires that the node is in the tree and its order has not changed since.
  void erase(T& node) { erase_below(root_, node); }

  // The first node for which `reached` is true; requires that it is false then true along the
  // order.
  template <class Reached>
  T* first_where(const Reached& reached) const {
    T* best = nullptr;
    for (T* node = root_; node != nullptr;) {
      if (reached(*node)) {
        best = node;
        node = left(node);
      } else {
        node = right(node);
      }
    }
    return best;
  }

  // Visits in order until `visit` returns false. The tree must not change meanwhile.
  template <class Visit>
  void for_each(const Visit& visit) const {
    visit_below(root_, visit);
  }

  static T* left(const T* node) { return Traits::links(const_cast<T&>(*node)).left; }
  static T* right(const T* node) { return Traits::links(const_cast<T&>(*node)).right; }

 private:
  static std::int32_t height(const T* node) {
    return node == nullptr ? 0 : Traits::links(const_cast<T&>(*node)).height;
  }

  static void pull(T* node) {
    auto& links = Traits::links(*node);
    links.height = 1 + std::max(height(links.left), height(links.right));
    Traits::pull(*node);
  }

  static void rotate_right(T*& top) {
    T* up = Traits::links(*top).left;
    Traits::links(*top).left = Traits::links(*up).right;
    Traits::links(*up).right = top;
    pull(top);
    pull(up);
    top = up;
  }

  static void rotate_left(T*& top) {
    T* up = Traits::links(*top).right;
    Traits::links(*top).right = Traits::links(*up).left;
    Traits::links(*up).left = top;
    pull(top);
    pull(up);
    top = up;
  }

  static void rebalance(T*& top) {
    auto& links = Traits::links(*top);
    const std::int32_t lean = height(links.left) - height(links.right);
    if (lean > 1) {
      if (height(left(links.left)) < height(right(links.left))) rotate_left(links.left);
      rotate_right(top);
    } else if (lean < -1) {
      if (height(right(links.right)) < height(left(links.right))) rotate_right(links.right);
      rotate_left(top);
    } else {
      pull(top);
    }
  }

  static void insert_below(T*& top, T& node) {
    if (top == nullptr) {
      top = &node;
      Traits::pull(node);
      return;
    }
    auto& links = Traits::links(*top);
    insert_below(Traits::before(node, *top) ? links.left : links.right, node);
    rebalance(top);
  }

  static T* take_first(T*& top) {
    auto& links = Traits::links(*top);
    if (links.left == nullptr) {
      T* taken = top;
      top = links.right;
      return taken;
    }
    T* taken = take_first(links.left);
    rebalance(top);
    return taken;
  }

  static void erase_below(T*& top, T& node) {
    auto& links = Traits::links(*top);
    if (top != &node) {
      erase_below(Traits::before(node, *top) ? links.left : links.right, node);
    } else if (links.left == nullptr || links.right == nullptr) {
      top = links.left != nullptr ? links.left : links.right;
      return;
    } else {
      T* next = take_first(links.right);
      Traits::links(*next).left = links.left;
      Traits::links(*next).right = links.right;
      top = next;
    }
    rebalance(top);
  }

  template <class Visit>
  static bool visit_below(T* node, const Visit& visit) {
    if (node == nullptr) return true;
    return visit_below(left(node), visit) && visit(*node) && visit_below(right(node), visit);
  }

  T* root_ = nullptr;
};

}  // namespace holdfast
